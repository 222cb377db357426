/** The time that all benchmarks together may take. */
export class Budget {
  readonly #began = performance.now();
  /** The dearest run of each kind so far. */
  readonly #seen = new Map<string, { readonly count: number; readonly seconds: number }>();

  constructor(private readonly seconds: number) {}

  get elapsed(): number {
    return (performance.now() - this.#began) / 1000;
  }

  note(kind: string, where: string, count: number, seconds: number): void {
    this.#seen.set(`${kind} ${where}`, { count, seconds });
  }

  /** Whether there is time for a run, as the last smaller one of its kind leads to expect: cost grows with the square at most. */
  allows(kind: string, where: string, count: number): boolean {
    const seen = this.#seen.get(`${kind} ${where}`);
    const expected = seen === undefined ? 0 : seen.seconds * Math.max(1, count / seen.count) ** 1.2;
    return this.elapsed + expected <= this.seconds;
  }
}
