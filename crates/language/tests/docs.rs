//! The models of the language's page are models.

use leastaction_expr::Graph;
use leastaction_language::read;

#[test]
fn every_model_of_the_page_is_read() {
    let page = include_str!("../../../book/src/language.md");
    let blocks: Vec<&str> =
        page.split("```motion\n").skip(1).map(|block| block.split("```").next().unwrap()).collect();
    assert!(blocks.len() >= 7);
    for text in blocks {
        let graph = Graph::new();
        let setup =
            read(&graph, text, &[]).unwrap_or_else(|errors| panic!("{}", errors.render("page", text, false)));
        let system = setup.model.system();
        let system = system.unwrap_or_else(|e| panic!("{}", setup.explain(&e).render("page", text, false)));
        let mut dynamics = system.dynamics().unwrap();
        let start = setup.start(&dynamics).unwrap();
        dynamics
            .start_over(0.0, &setup.start_blocks(), &start)
            .unwrap_or_else(|e| panic!("{}", setup.explain(&e).render("page", text, false)));
    }
}
