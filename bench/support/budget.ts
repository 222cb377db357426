/** The time limit of all benchmarks together. */
export class Budget {
  readonly #began = performance.now();
  /** Duration of one case of each kind so far. */
  readonly #seen: { readonly kind: string; readonly count: number; readonly seconds: number }[] = [];

  constructor(private readonly seconds: number) {}

  get elapsed(): number {
    return (performance.now() - this.#began) / 1000;
  }

  note(kind: string, count: number, seconds: number): void {
    this.#seen.push({ kind, count, seconds });
  }

  /** Whether there is time for more cases, estimated from the largest run of their kind that was not larger. */
  allows(kind: string, count: number, cases: number): boolean {
    const smaller = this.#seen.filter((seen) => seen.kind === kind && seen.count <= count);
    const seen = smaller.sort((a, b) => b.count - a.count)[0] ?? { count, seconds: 0 };
    return this.elapsed + cases * seen.seconds * (count / seen.count) ** 1.2 <= this.seconds;
  }
}
