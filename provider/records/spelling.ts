/** Asks about a mistyped name: the known one that differs by the fewest letters, at most two; empty if none does. */
export function didYouMean(name: string, known: readonly string[]): string {
  const differences = known.map((one) => {
    const [a, b] = [name.toLowerCase(), one.toLowerCase()];
    return { one, letters: lettersOnlyIn(a, b) + lettersOnlyIn(b, a) };
  });
  const [closest] = differences.filter(({ letters }) => letters <= 2).toSorted((a, b) => a.letters - b.letters);
  return closest ? `did you mean ${closest.one}?` : "";
}

function lettersOnlyIn(text: string, other: string): number {
  return [...other].reduce((rest, letter) => rest.replace(letter, ""), text).length;
}
