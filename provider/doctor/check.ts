/** What one check came to. */
export interface Check {
  /** What was looked at: a setting, a package, a way to the platform. */
  readonly subject: string;
  /** `unchecked`: nothing wrong was seen, and it cannot be said that all is well. */
  readonly state: "ok" | "unchecked" | "wrong";
  readonly message: string;
  /** How to mend what is wrong. */
  readonly mend?: string;
  /** Where a setting comes from. */
  readonly source?: Source;
}

export type Source = "configuration" | "environment" | "default" | "not set";

export function ok(subject: string, message: string): Check {
  return { subject, state: "ok", message };
}

export function unchecked(subject: string, message: string): Check {
  return { subject, state: "unchecked", message };
}

export function wrong(subject: string, message: string, mend: string): Check {
  return { subject, state: "wrong", message, mend };
}
