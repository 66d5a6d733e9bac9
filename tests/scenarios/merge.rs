//! What several players showed, as one list of lines.

/// Merges lists of lines into one: each line with the numbers of the lists that have it there, in ascending order.
///
/// The lines of the result that have a list's number are that list.
pub fn merge(lists: &[&[String]]) -> Vec<(Vec<usize>, String)> {
    let mut merged = Vec::new();
    for (number, list) in lists.iter().enumerate() {
        merged = with(merged, number, list);
    }
    merged
}

/// Adds a list, its lines beside equal ones where their order allows it.
fn with(merged: Vec<(Vec<usize>, String)>, number: usize, list: &[String]) -> Vec<(Vec<usize>, String)> {
    // The length of the longest common subsequence of what is left of both.
    let mut common = vec![vec![0; list.len() + 1]; merged.len() + 1];
    for (at, (_, line)) in merged.iter().enumerate().rev() {
        for (other, added) in list.iter().enumerate().rev() {
            common[at][other] = match line == added {
                true => common[at + 1][other + 1] + 1,
                false => common[at + 1][other].max(common[at][other + 1]),
            };
        }
    }
    let mut result = Vec::new();
    let mut left = list.iter().enumerate().peekable();
    for (at, (mut who, line)) in merged.into_iter().enumerate() {
        while let Some((other, added)) = left.peek().copied() {
            if line == *added {
                who.push(number);
                left.next();
                break;
            }
            if common[at + 1][other] == common[at][other] {
                break;
            }
            result.push((vec![number], added.clone()));
            left.next();
        }
        result.push((who, line));
    }
    result.extend(left.map(|(_, added)| (vec![number], added.clone())));
    result
}

#[test]
fn every_list_is_in_the_merged_one() {
    let list = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let lists = [list("a b c d"), list("a c x d"), list("b c d e"), list("q")];
    let merged = merge(&lists.each_ref().map(Vec::as_slice));
    for (number, list) in lists.iter().enumerate() {
        let own = merged.iter().filter(|(who, _)| who.contains(&number)).map(|(_, line)| line.clone());
        assert_eq!(own.collect::<Vec<_>>(), *list);
    }
    assert!(merged.contains(&(vec![0, 1, 2], "c".to_owned())), "{merged:?}");
}
