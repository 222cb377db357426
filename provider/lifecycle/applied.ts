/** What create or update did. */
export interface Applied<Outputs> {
  readonly outputs: Outputs;
  /** Set where nobody knows whether the platform did it: what to tell the user. The outputs are saved all the same. */
  readonly unconfirmed?: string;
  /** One line for the run's diagnostics. */
  readonly notice?: string;
}

/** What diff found. */
export interface Difference {
  readonly changes: boolean;
  /** The inputs that make a new resource necessary. */
  readonly replaces?: readonly string[];
  /** One line for the run's diagnostics: the host has no other way to say why. */
  readonly notice?: string;
}

/** An input that cannot be used. */
export interface CheckFailure {
  readonly property: string;
  readonly reason: string;
}
