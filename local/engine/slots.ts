/** Lets a number of things run at a time; the others wait for their turn in order. */
export class Slots {
  private free: number;
  private readonly waiting: (() => void)[] = [];
  private idle: (() => void)[] = [];
  private running = 0;

  constructor(count: number) {
    this.free = count;
  }

  /** Resolves when there is room. */
  async take(): Promise<void> {
    this.running++;
    if (this.free > 0) {
      this.free--;
      return;
    }
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }

  give(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.free++;
    if (--this.running > 0) return;
    for (const resolve of this.idle.splice(0)) resolve();
  }

  /** Resolves when nothing runs or waits. */
  async whenIdle(): Promise<void> {
    if (this.running > 0) await new Promise<void>((resolve) => this.idle.push(resolve));
  }
}
