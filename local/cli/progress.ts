import { type EngineEvent, type OperationOptions, type OperationResult } from "../engine/index";

/** Shows a running operation: its output and, on a terminal, a progress line that the next line overwrites. */
export class Progress {
  readonly options: OperationOptions;
  readonly #steps: object[] = [];
  readonly #running = new Set<string>();
  readonly #live: boolean;
  #finished = 0;
  #shown = false;

  constructor(
    private readonly out: NodeJS.WriteStream,
    json: boolean,
    private readonly diff: boolean,
  ) {
    this.#live = out.isTTY && !json;
    this.options = {
      colors: this.#live && (process.env.NO_COLOR ?? "") === "",
      onEvent: (event) => this.#onEvent(event),
      ...(!json && {
        onOutput: (line: string): void => {
          this.#clear();
          out.write(`${line}\n`);
        },
      }),
    };
  }

  end(): void {
    this.#clear();
  }

  /** The output of `--json`. Secrets are masked. */
  toJson({ result, changes, outputs, diagnostics }: OperationResult): object {
    const shown = Object.entries(outputs).map(([key, { value, secret }]) => [key, secret ? "[secret]" : value]);
    return {
      result,
      changes,
      steps: this.#steps,
      outputs: Object.fromEntries(shown) as object,
      diagnostics,
    };
  }

  #onEvent(event: EngineEvent): void {
    if (event.kind === "diagnostic") return;
    if (event.kind === "start") this.#running.add(event.urn);
    else {
      this.#running.delete(event.urn);
      this.#finished++;
      const { kind, op, urn, seconds, changes } = event;
      const failed = kind === "failed" && { failed: true };
      this.#steps.push({ op, urn, seconds, ...failed, ...(this.diff && { changes }) });
    }
    if (!this.#live) return;
    this.#clear();
    this.out.write(`${this.#finished} done, ${this.#running.size} in progress`);
    this.#shown = true;
  }

  #clear(): void {
    if (!this.#shown) return;
    this.out.clearLine(0);
    this.out.cursorTo(0);
    this.#shown = false;
  }
}
