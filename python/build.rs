//! How an extension of Python is linked: on some systems, that some symbols are found in the interpreter has to be said.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
