pub(crate) struct Radau;
