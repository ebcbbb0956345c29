//! Weights of a network, for texts that name a file of them.

use leastaction_network::{Activation, Initial, Network, Tensor, Tensors};
use leastaction_simulate::Source;
use std::path::Path;
use std::sync::OnceLock;

/// A text beside which there are `well.safetensors`, a network of two inputs, a table `drive.csv`, and `shared.motion`, to be included behind a parameter `A`.
pub(crate) fn beside_weights(text: &str) -> Source {
    Source::text("model", text).in_folder(folder())
}

/// The folder, which is filled once in a process.
pub(crate) fn folder() -> &'static Path {
    static WRITTEN: OnceLock<()> = OnceLock::new();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    WRITTEN.get_or_init(|| {
        let widths = [2, 5, 1];
        let network = Network::<f64>::new(&widths, Activation::Tanh).unwrap().drawn(Initial::Orthogonal, 4);
        let mut values = network.parameters().iter().copied();
        let mut list = Vec::new();
        for (number, pair) in widths.windows(2).enumerate() {
            let (columns, rows) = (pair[0], pair[1]);
            for (kind, shape) in [("weight", vec![rows, columns]), ("bias", vec![rows])] {
                let values = values.by_ref().take(shape.iter().product()).collect();
                list.push(Tensor { name: format!("well.{number}.{kind}"), shape, values });
            }
        }
        let about = vec![("activation".to_owned(), Activation::Tanh.name().to_owned())];
        let table = "t,u,wind\n0,0.1,0.3\n0.2,0.5,-0.2\n0.35,-0.4,0.1\n0.8,0.2,0.4\n".into();
        let files = [
            ("well.safetensors", Tensors { about, list }.bytes()),
            ("drive.csv", table),
            ("shared.motion", "let twice = 2*A\n".into()),
        ];
        for (name, bytes) in files {
            // Other processes may write the same bytes at the same time.
            let temporary = folder.join(format!("{name}-{}", std::process::id()));
            std::fs::write(&temporary, bytes).unwrap();
            std::fs::rename(temporary, folder.join(name)).unwrap();
        }
    });
    folder
}
