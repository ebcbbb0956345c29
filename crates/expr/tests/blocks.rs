//! Blocks of symbols and lists of names.

use leastaction_expr::{Graph, Names};

#[test]
fn a_block_has_the_symbols_of_its_names() {
    let graph = Graph::new();
    let before = graph.symbol("m");
    let rope = graph.block("rope", 3, &["x", "y"]).unwrap();
    assert_eq!((rope.count(), rope.width(), graph.len()), (3, 2, 1 + 6));
    let [x, y] = [rope.symbol(2, 0), rope.symbol(2, 1)];
    assert_eq!([x, y].map(|e| e.to_string()), ["rope[2].x", "rope[2].y"]);
    assert_eq!(graph.symbol("rope[2].y"), y);
    assert_eq!(graph.parse("m*rope[2].x^2").unwrap(), before * x * x);
    // Rates are a block too, whichever is asked for first.
    let rate = graph.symbol("rope[1].y'");
    assert_eq!(rope.symbol(1, 1).dot(), Some(rate));
    assert_eq!(rate.dot().unwrap().to_string(), "rope[1].y''");
    assert_eq!((x * y).derivative(x), y);
    // What is outside of the block is a symbol of its own.
    for other in ["rope[3].x", "rope[2].z", "rope[2]", "rope[02].x", "rope"] {
        let symbol = graph.symbol(other);
        assert!(rope.symbols().all(|member| member != symbol), "{other}");
        assert_eq!(symbol.as_symbol().unwrap().to_string(), other);
    }
    let plain = graph.block("s", 2, &[]).unwrap();
    assert_eq!(plain.symbols().map(|s| s.to_string()).collect::<Vec<_>>(), ["s[0]", "s[1]"]);
    assert_eq!(graph.block("none", 0, &["x"]).unwrap().symbols().count(), 0);
}

#[test]
fn a_block_is_declared_one_way() {
    let graph = Graph::new();
    let first = graph.block("a", 3, &["x"]).unwrap();
    assert_eq!(graph.block("a", 3, &["x"]).unwrap().symbol(2, 0), first.symbol(2, 0));
    assert!(graph.block("a", 4, &["x"]).is_err() && graph.block("a", 3, &["y"]).is_err());
    graph.symbol("b[7]");
    assert_eq!(graph.block("b", 3, &[]).unwrap_err().to_string(), "`b[7]` names something else already");
}

#[test]
fn copies_of_a_graph_and_expressions_in_another_keep_the_names() {
    let graph = Graph::new();
    let rope = graph.block("rope", 100, &["x", "y"]).unwrap();
    let energy = rope.symbol(99, 1) * rope.symbol(0, 0).dot().unwrap();
    let copy = graph.clone();
    assert_eq!(copy.at(energy.id()).to_string(), "rope[99].y*rope[0].x'");
    let other = Graph::new();
    let there = other.block("rope", 100, &["x", "y"]).unwrap();
    let adopted = other.adopt(energy);
    assert_eq!(adopted, there.symbol(99, 1) * there.symbol(0, 0).dot().unwrap());
}

#[test]
fn names_are_found_where_they_stand() {
    let graph = Graph::new();
    let rope = graph.block("rope", 4, &["x", "y"]).unwrap();
    let mut symbols = vec![graph.symbol("a"), graph.symbol("odd name")];
    // All but one, and one of them at the end.
    symbols.extend(rope.symbols().filter(|&s| s != rope.symbol(1, 0)));
    symbols.push(rope.symbol(1, 0));
    symbols.push(graph.symbol("b"));
    let rates: Vec<_> = symbols.iter().map(|s| s.dot().unwrap()).collect();
    for list in [symbols, rates] {
        let names = Names::of(&list);
        assert_eq!(names.len(), list.len());
        for (i, symbol) in list.iter().enumerate() {
            let name = symbol.to_string();
            assert_eq!(names.at(i), name);
            assert_eq!(names.position(&name), Some(i), "{name}");
        }
        assert_eq!(
            names.iter().collect::<Vec<_>>(),
            list.iter().map(ToString::to_string).collect::<Vec<_>>()
        );
        assert!(!names.contains("rope[4].x") && !names.contains("rope[0]") && !names.contains("c"));
        assert_eq!(names.blocks().map(|(places, _)| places.len()).sum::<usize>(), 8);
    }
    let names: Names = ["x".to_owned(), "y".to_owned()].into_iter().collect();
    assert_eq!(&names, ["x", "y"]);
    assert_eq!(names.join(", "), "x, y");
}
