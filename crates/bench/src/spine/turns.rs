//! Taking turns: every contender gets the same share of a machine's good and bad moments.

use anyhow::{Context as _, Result};

use crate::inputs::Random;

/// What one contender does in its turn: some numbers, the same kind each time.
pub(crate) type Turn<'a> = Box<dyn FnMut() -> Result<Vec<f64>> + 'a>;

/// The numbers of one contender.
pub(crate) struct Samples(Vec<f64>);

/// Lets the contenders take turns, in a new order each round; gives the numbers in their order.
pub(crate) fn take<const N: usize>(
    rounds: usize,
    mut contenders: [(&str, Turn<'_>); N],
) -> Result<[Samples; N]> {
    let mut samples = [const { Samples(Vec::new()) }; N];
    let mut order: [usize; N] = std::array::from_fn(|number| number);
    let mut random = Random::new(0);
    for _ in 0..rounds {
        random.shuffle(&mut order);
        for number in order {
            let (name, turn) = &mut contenders[number];
            let taken = turn().with_context(|| format!("measuring {name}"))?;
            samples[number].0.extend(taken);
        }
    }
    Ok(samples)
}

impl Samples {
    pub(crate) fn p50(&self) -> f64 {
        self.share(0.5)
    }

    pub(crate) fn p99(&self) -> f64 {
        self.share(0.99)
    }

    /// The number that this share of all is below; not a number if there are none.
    fn share(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let last = sorted.len().saturating_sub(1);
        let at = (share * sorted.len() as f64) as usize;
        sorted.get(at.min(last)).copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_has_every_turn() {
        let mut count = 0.0;
        let first: Turn<'_> = Box::new(|| Ok(vec![7.0]));
        let second: Turn<'_> = Box::new(|| {
            count += 1.0;
            Ok(vec![count])
        });
        let [first, second] = take(3, [("first", first), ("second", second)]).unwrap();
        assert_eq!((first.0, second.0), (vec![7.0; 3], vec![1.0, 2.0, 3.0]));
    }

    #[test]
    fn shares_are_of_all_samples() {
        let samples = Samples((0..1000).map(f64::from).collect());
        assert_eq!((samples.p50(), samples.p99()), (500.0, 990.0));
        assert_eq!(Samples(vec![3.0]).p99(), 3.0);
        assert!(Samples(Vec::new()).p50().is_nan());
    }

    #[test]
    fn a_failure_names_its_contender() {
        let turn: Turn<'_> = Box::new(|| anyhow::bail!("no"));
        let error = take(1, [("tmux", turn)]).err().unwrap();
        assert_eq!(format!("{error:#}"), "measuring tmux: no");
    }
}
