//! Meshes from files, and files of meshes.

use leastaction_field::format::{
    ALL, Data, DataKind, Format, Values, write_collection, write_surface, write_volume,
};
use leastaction_field::{CellKind, FormatError, Mesh, ReadError};
use std::path::Path;

pub(crate) fn read(ending: &str, text: impl AsRef<[u8]>) -> Result<Mesh, FormatError> {
    Format::of(Path::new(&format!("mesh.{ending}"))).unwrap().read(text.as_ref())
}

pub(crate) const MSH_2: &str = "$MeshFormat\n2.2 0 8\n$EndMeshFormat
$PhysicalNames\n2\n2 7 \"the floor\"\n3 1 \"body\"\n$EndPhysicalNames
$Nodes\n5\n1 0 0 0\n2 1 0 0\n30 0 1 0\n4 0 0 1e0\n99 5 5 5\n$EndNodes
$Elements\n3\n1 15 2 9 1 4\n2 2 2 7 1 1 30 2\n3 4 2 1 1 1 2 30 4\n$EndElements\n";

pub(crate) const MSH_4: &str = "$MeshFormat\n4.1 0 8\n$EndMeshFormat
$PhysicalNames\n2\n2 7 \"the floor\"\n3 1 \"body\"\n$EndPhysicalNames
$Entities\n1 0 1 1\n3 0 0 1 1 9\n5 0 0 0 1 1 0 1 -7 0\n8 0 0 0 1 1 1 1 1 1 5\n$EndEntities
$Nodes\n2 5 1 99\n0 3 0 1\n4\n0 0 1\n3 8 1 4\n1\n2\n30\n99\n0 0 0 .1 .2 .3\n1 0 0 0 0 0\n0 1 0 0 0 0\n5 5 5 0 0 0\n$EndNodes
$Elements\n3 3 1 3\n0 3 15 1\n1 4\n2 5 2 1\n2 1 30 2\n3 8 4 1\n3 1 2 30 4\n$EndElements
$Periodic\n0\n$EndPeriodic\n";

pub(crate) const OBJ: &str =
    "# a pyramid\nmtllib none.mtl\no body\nv 0 0 0\nv 1 0 0 1.0\nv 1 1 0\nv 0 1 0\nv .5 .5 1\nvn 0 0 1\n
g base\nf 4/1/1 3//1 \\\n 2 1\ng sides slopes\nf -5 -4 -1\nf 2 3 5\nf 3 4 5\nf 4 1 5\nl 1 3 5\n";

pub(crate) const STL: &str = "solid a tetrahedron
facet normal 0 0 -1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet
facet normal 0 -1 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 -0 1\nendloop\nendfacet
facet normal -1 0 0\nouter loop\nvertex 0 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet
facet normal 1 1 1\nouter loop\nvertex 1 0 0\nvertex 0 1 0\nvertex 0 0 1\nendloop\nendfacet
endsolid a tetrahedron\n";

pub(crate) const VTK: &str = "# vtk DataFile Version 3.0\na tetrahedron and its floor\nASCII\nDATASET UNSTRUCTURED_GRID
FIELD FieldData 1\nTimeValue 1 1 double\n0.5\nPOINTS 5 float\n0 0 0 1 0 0\n0 1 0 0 0 1 9 9 9\nMETADATA\nINFORMATION 0\n
CELLS 3 12\n4 0 1 2 3\n3 0 2 1\n2 0 3\nCELL_TYPES 3\n10 5 3\nCELL_DATA 3\nSCALARS whatever\n";

pub(crate) const VTK_5: &str = "# vtk DataFile Version 5.1\na square\nASCII\nDATASET POLYDATA
POINTS 4 double\n0 0 0 1 0 0 1 1 0 0 1 0\nPOLYGONS 2 4\nOFFSETS vtktypeint64\n0 4\nCONNECTIVITY vtktypeint64\n0 1 2 3\n";

/// The same in binary.
pub(crate) fn binary_stl() -> Vec<u8> {
    let mesh = read("stl", STL).unwrap();
    let mut bytes = b"solid although it is binary".to_vec();
    bytes.resize(80, b' ');
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for triangle in mesh.triangles() {
        bytes.extend([0; 12]);
        for at in triangle.map(|node| mesh.nodes()[node as usize]) {
            at.iter().for_each(|&x| bytes.extend((x as f32).to_le_bytes()));
        }
        bytes.extend([0; 2]);
    }
    bytes
}

pub(crate) fn binary_vtk() -> Vec<u8> {
    let mut bytes =
        b"# vtk DataFile Version 4.2\nbinary\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n".to_vec();
    for x in [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0f64] {
        bytes.extend(x.to_be_bytes());
    }
    bytes.extend(b"\nCELLS 1 5\n");
    [4, 0, 1, 2, 3i32].iter().for_each(|i| bytes.extend(i.to_be_bytes()));
    bytes.extend(b"\nCELL_TYPES 1\n");
    bytes.extend(10i32.to_be_bytes());
    bytes.push(b'\n');
    bytes
}

const XYZ: &str = "3\nwater\nO 0 0 0.12\nH 0.76 0 -0.48 0.4\nH -0.76 0 -4.8e-1\n";

#[test]
fn atoms_from_xyz() {
    let mesh = read("xyz", XYZ).unwrap();
    assert_eq!(mesh.nodes(), [[0.0, 0.0, 0.12], [0.76, 0.0, -0.48], [-0.76, 0.0, -0.48]]);
    assert!(mesh.tetrahedra().is_empty() && read("xyz", "2\n\nH 0 0 0\n").is_err());
    let more = read("xyz", "1\n\nH 0 0 0\nH 0 0 1\n").unwrap_err().to_string();
    assert!(more.contains("the end of the file"), "{more}");
}

/// Every example, by its ending.
pub(crate) fn examples() -> Vec<(&'static str, Vec<u8>)> {
    let texts = [
        ("msh", MSH_2),
        ("msh", MSH_4),
        ("obj", OBJ),
        ("stl", STL),
        ("vtk", VTK),
        ("vtk", VTK_5),
        ("xyz", XYZ),
    ];
    let texts = texts.map(|(ending, text)| (ending, text.as_bytes().to_vec()));
    texts.into_iter().chain([("stl", binary_stl()), ("vtk", binary_vtk())]).collect()
}

#[test]
fn gmsh_of_both_versions() {
    for text in [MSH_2, MSH_4] {
        let mesh = read("msh", text).unwrap();
        mesh.check().unwrap();
        assert_eq!((mesh.nodes().len(), mesh.triangles().len(), mesh.tetrahedra().len()), (4, 1, 1));
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
        let groups: Vec<_> = mesh.groups().iter().map(|group| (group.name.as_str(), group.kind)).collect();
        let expected =
            [("9", CellKind::Node), ("the floor", CellKind::Triangle), ("body", CellKind::Tetrahedron)];
        assert_eq!(groups, expected);
        let point = mesh.group_nodes("9").unwrap()[0] as usize;
        assert_eq!(mesh.nodes()[point], [0.0, 0.0, 1.0]);
        let floor = mesh.group_nodes("the floor").unwrap();
        assert!(floor.iter().all(|&node| mesh.nodes()[node as usize][2] == 0.0) && floor.len() == 3);
    }
}

#[test]
fn surfaces_from_obj_and_stl() {
    let mesh = read("obj", OBJ).unwrap();
    mesh.check().unwrap();
    assert!(mesh.is_closed());
    assert_eq!((mesh.nodes().len(), mesh.triangles().len(), mesh.segments().len()), (5, 6, 2));
    assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-15);
    assert_eq!(
        mesh.groups().iter().map(|g| (g.name.as_str(), g.members.len())).collect::<Vec<_>>(),
        [("base", 2), ("sides", 4), ("slopes", 4)]
    );
    for bytes in [STL.as_bytes().to_vec(), binary_stl()] {
        let mesh = read("stl", bytes).unwrap();
        mesh.check().unwrap();
        assert!(mesh.is_closed());
        assert_eq!((mesh.nodes().len(), mesh.triangles().len()), (4, 4));
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
    }
}

#[test]
fn legacy_vtk_as_text_and_binary() {
    let mesh = read("vtk", VTK).unwrap();
    mesh.check().unwrap();
    assert_eq!(
        (mesh.nodes().len(), mesh.tetrahedra(), mesh.triangles()),
        (4, &[[0, 1, 2, 3]][..], &[[0, 2, 1]][..])
    );
    assert_eq!(mesh.segments(), [[0, 3]]);
    let mesh = read("vtk", VTK_5).unwrap();
    assert_eq!(mesh.triangles(), [[0, 1, 2], [0, 2, 3]]);
    let mesh = read("vtk", binary_vtk()).unwrap();
    assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    let cases: &[(&str, String, &str)] = &[
        ("msh", MSH_2.replace("30 0 1 0", "30 0 one 0"), "line 13: a coordinate is expected, not `one`"),
        ("msh", MSH_2.replace("30 0 1 0", "2 0 1 0"), "line 13: there is a node 2 already"),
        ("msh", MSH_2.replace("1 2 30 4\n", "1 2 31 4\n"), "line 21: there is no node 31"),
        (
            "msh",
            MSH_2.replace("3 4 2 1 1 1 2 30 4", "3 5 2 1 1 1 2 30 4 1 2 30 4"),
            "line 21: hexahedron `5` is not read: make a mesh of tetrahedra or triangles of the first order (Mesh.ElementOrder = 1, no recombination)",
        ),
        (
            "msh",
            MSH_2.replace("2.2 0 8", "2.2 1 8"),
            "line 2: file type `1` is not read: save the mesh as text (Mesh.Binary = 0)",
        ),
        (
            "msh",
            MSH_2.replace("2.2 0 8", "3 0 8"),
            "line 2: version `3` is not read: save the mesh in version 4.1 or 2.2 (Mesh.MshFileVersion)",
        ),
        (
            "msh",
            MSH_2.replace("$Elements\n3", "$Elements\n4"),
            "line 22: the number of an element is expected, not `$EndElements`",
        ),
        ("msh", MSH_4.replace("2 5 1 99", "2 6 1 99"), "line 28: 5 nodes do not fit 6 that were announced"),
        ("msh", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n".into(), "the file has no section $Nodes"),
        ("obj", OBJ.replace("f 2 3 5", "f 2 3 6"), "line 16: there is no vertex 6"),
        ("obj", OBJ.replace("f 2 3 5", "f 2 0 5"), "line 16: there is no vertex 0"),
        (
            "obj",
            OBJ.replace("f 2 3 5", "f 2 3"),
            "line 16: a face of three corners or more is expected, not `f 2 3`",
        ),
        ("obj", OBJ.replace("v 1 1 0", "v 1 nan 0"), "line 6: a finite coordinate is expected, not `nan`"),
        (
            "obj",
            OBJ.replace("f 2 3 5", "curv 0 1 2 3"),
            "line 16: statement `curv` is not read: write vertices, faces and lines only",
        ),
        ("stl", STL.replacen("endloop", "vertex 1 1 1", 1), "line 7: endloop is expected, not `vertex`"),
        (
            "stl",
            STL[..200].into(),
            "line 16: the file ends where normal is expected; it may have been cut off",
        ),
        ("vtk", VTK.replace("4 0 1 2 3", "4 0 1 2 5"), "line 19: there is no point 5"),
        (
            "vtk",
            VTK.replace("10 5 3", "12 5 3"),
            "line 19: type of cell `12` is not read: make a mesh of tetrahedra, triangles or lines of the first order",
        ),
        (
            "vtk",
            VTK.replace("DATASET UNSTRUCTURED_GRID", "DATASET STRUCTURED_POINTS"),
            "line 4: data set `STRUCTURED_POINTS` is not read: save an UNSTRUCTURED_GRID or POLYDATA",
        ),
    ];
    let said = |ending, text: &String| read(ending, text).unwrap_err().to_string();
    let found: Vec<_> = cases.iter().map(|(ending, text, _)| said(ending, text)).collect();
    let expected: Vec<_> = cases.iter().map(|(_, _, expected)| *expected).collect();
    assert_eq!(found, expected);
    let error = Mesh::read(Path::new("part.step")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot tell what kind of mesh `part.step` is from its ending: .msh, .obj, .stl, .vtk, .xyz are read"
    );
    assert!(matches!(Mesh::read(Path::new("/nowhere/part.msh")), Err(ReadError::File { .. })));
    assert_eq!(ALL.len(), 5);
}

/// Between two pieces of a text.
fn between<'a>(text: &'a str, from: &str, to: &str) -> &'a str {
    let start = text.find(from).unwrap_or_else(|| panic!("no {from}")) + from.len();
    &text[start..][..text[start..].find(to).unwrap()]
}

/// The bytes of an array, decoded by a second implementation, without the length before them, which must be right.
fn decoded(text: &str, name: &str) -> Vec<u8> {
    let array = between(&text[text.find(&format!("Name=\"{name}\"")).unwrap()..], ">", "<");
    let value = |c: char| match c {
        'A'..='Z' => c as u32 - 65,
        'a'..='z' => c as u32 - 71,
        '0'..='9' => c as u32 + 4,
        '+' => 62,
        '/' => 63,
        _ => panic!("{c} is no base64"),
    };
    let (mut bits, mut count, mut bytes) = (0u32, 0, Vec::new());
    for c in array.trim_end_matches('=').chars() {
        bits = bits << 6 | value(c);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    let (length, rest) = bytes.split_at(8);
    assert_eq!(u64::from_le_bytes(length.try_into().unwrap()), rest.len() as u64, "{name}");
    rest.to_vec()
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
}

#[test]
fn files_for_paraview_have_every_bit() {
    let mesh = read("msh", MSH_2).unwrap();
    let moved: Vec<_> = mesh.nodes().iter().map(|x| x.map(|x| x / 3.0 + 0.1)).collect();
    let speed = [0.1, 0.2, 1e-300, -0.0];
    let strain = [[1.0, 2.0, 3.0], [1.0 / 3.0, 0.0, 0.0]];
    let data = [
        Data { name: "speed & \"more\"", kind: DataKind::Nodes, values: Values::Scalars(&speed) },
        Data { name: "strain", kind: DataKind::Cells, values: Values::Vectors(&strain) },
    ];
    let mut bytes = Vec::new();
    write_volume(&mut bytes, &mesh, &moved, &data).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("<Piece NumberOfPoints=\"4\" NumberOfCells=\"2\">"));
    let bits = |numbers: &[f64]| numbers.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&numbers(&decoded(&text, "Points"))), bits(moved.as_flattened()));
    assert_eq!(bits(&numbers(&decoded(&text, "speed &amp; &quot;more&quot;"))), bits(&speed));
    assert_eq!(bits(&numbers(&decoded(&text, "strain"))), bits(strain.as_flattened()));
    let [a, b, c] = mesh.triangles()[0].map(i64::from);
    let [d, e, f, g] = mesh.tetrahedra()[0].map(i64::from);
    assert_eq!(integers(&decoded(&text, "connectivity")), [a, b, c, d, e, f, g]);
    assert_eq!(integers(&decoded(&text, "offsets")), [3, 7]);
    assert_eq!(decoded(&text, "types"), [5, 10]);

    let mut bytes = Vec::new();
    write_surface(&mut bytes, &mesh, &moved, &data[..1]).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("NumberOfLines=\"0\" NumberOfStrips=\"0\" NumberOfPolys=\"4\""));
    let polygons = &text[text.find("<Polys>").unwrap()..];
    let surface: Vec<i64> = mesh.surface().as_flattened().iter().map(|&node| i64::from(node)).collect();
    assert_eq!(integers(&decoded(polygons, "connectivity")), surface);

    let mut bytes = Vec::new();
    write_collection(&mut bytes, [(0.0, "a0.vtu"), (0.1, "a<1>.vtu")]).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(text.contains("<DataSet timestep=\"0.1\" group=\"\" part=\"0\" file=\"a&lt;1&gt;.vtu\"/>"));
    let error = write_volume(&mut Vec::new(), &mesh, &moved[1..], &[]).unwrap_err();
    assert_eq!(error.to_string(), "3 positions are given, 4 are expected");
    let error = write_surface(&mut Vec::new(), &mesh, &moved, &data).unwrap_err();
    assert_eq!(error.to_string(), "2 strain are given, 4 are expected");
}
