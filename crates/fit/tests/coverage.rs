//! Whether intervals of 95 % hold the truth in 95 of 100 fits.

use leastaction_expr::Random;
use leastaction_fit::{Plan, Recording, fit};
use leastaction_simulate::{Overrides, Source};

/// A damped oscillator with few data: the noise is estimated from 14 numbers, so Student's factor counts.
fn covered(fits: u64) -> ([usize; 2], usize) {
    let text = "param k = 4, c = 0.3\ncoord x\nparticle ball mass 1 at [x]\npotential k*x^2/2\ndissipation c*x'^2/2\n";
    let source = Source::text("oscillator", text);
    let (k, c) = (4.4f64, 0.25f64);
    let w = (k - c * c / 4.0).sqrt();
    let times: Vec<f64> = (0..18).map(|i| 0.2 * f64::from(i)).collect();
    let (mut inside, mut allowed) = ([0; 2], 0);
    for seed in 0..fits {
        let mut random = Random::new(seed);
        let value = |t: &f64| (-c * t / 2.0).exp() * (w * t).cos() + 0.02 * random.normal();
        let data =
            [Recording::new("swing", times.clone()).with("x", times.iter().map(value).collect::<Vec<_>>())];
        let found =
            fit(&source, &data, &Plan { hints: false, ..Plan::default() }, &Overrides::default()).unwrap();
        for (i, truth) in [k, c].into_iter().enumerate() {
            let [low, high] = found.estimates[i].interval.unwrap();
            inside[i] += usize::from((low..=high).contains(&truth));
        }
        allowed += usize::from(found.allows(&[k, c]).unwrap());
    }
    (inside, allowed)
}

/// Of 200 fits, 190 ± 3.1 would hold it.
#[test]
fn intervals_hold_the_truth_as_often_as_they_say() {
    let (inside, allowed) = covered(200);
    let range = 179..=199;
    assert!(inside.iter().chain([&allowed]).all(|count| range.contains(count)), "{inside:?} {allowed}");
}

#[test]
#[ignore = "thousands of fits"]
fn intervals_of_many_fits_hold_the_truth_as_often_as_they_say() {
    let (inside, allowed) = covered(4000);
    println!("of 4000 fits, intervals hold the truth in {inside:?}, and ellipses in {allowed}");
    let range = 3745..=3855;
    assert!(inside.iter().chain([&allowed]).all(|count| range.contains(count)), "{inside:?} {allowed}");
}
