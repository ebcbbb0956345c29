//! Did you mean …?

/// Names longer than this are not compared, so that an error costs little whatever the text.
const LONGEST: usize = 64;

/// The candidate nearest to a misspelt name, if one is near: about one slip in three characters.
pub fn nearest<S: AsRef<str>>(name: &str, candidates: impl IntoIterator<Item = S>) -> Option<String> {
    let name: Vec<char> = name.chars().take(LONGEST + 1).collect();
    if name.len() > LONGEST {
        return None;
    }
    let allowed = (name.len() / 3).max(1);
    let slips = |candidate: &str| {
        // A character has up to four bytes. What cannot be near is not worth a closer look.
        let near = candidate.len() <= LONGEST
            && candidate.len() + allowed >= name.len()
            && candidate.len() <= 4 * (name.len() + allowed);
        let letters: Vec<char> = if near { candidate.chars().collect() } else { return None };
        let distance = distance(&name, &letters);
        // People rarely get the first letter wrong.
        let near = distance <= allowed && distance < letters.len();
        near.then(|| (distance, letters.first() != name.first(), candidate.to_owned()))
    };
    let near = candidates.into_iter().filter_map(|candidate| slips(candidate.as_ref()));
    near.min().map(|(.., candidate)| candidate)
}

/// How many characters to insert, delete, replace or swap with their neighbour; a change of case is free.
fn distance(a: &[char], b: &[char]) -> usize {
    let same = |x: char, y: char| x == y || x.to_lowercase().eq(y.to_lowercase());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let replaced = above[j] + usize::from(!same(a[i], b[j]));
            let mut best = replaced.min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && same(a[i], b[j - 1]) && same(a[i - 1], b[j]) {
                best = best.min(before[j - 1] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    fn among(name: &str) -> Option<String> {
        nearest(name, ["ln", "sin", "sinh", "theta", "th1", "x"])
    }

    #[test]
    fn finds_slips() {
        assert_eq!(among("thta").as_deref(), Some("theta"));
        assert_eq!(among("tehta").as_deref(), Some("theta"));
        assert_eq!(among("Theta").as_deref(), Some("theta"));
        assert_eq!(among("sinn").as_deref(), Some("sin"));
        assert_eq!(among("sn").as_deref(), Some("sin"));
        assert_eq!(among("th2").as_deref(), Some("th1"));
    }

    #[test]
    fn stays_silent_about_strangers() {
        assert_eq!(among("mass"), None);
        assert_eq!(among("y"), None);
        assert_eq!(among(&"x".repeat(100_000)), None);
    }
}
