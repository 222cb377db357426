/** The result of one check. */
export interface Check {
  /** What was checked: a setting, a package, a connection. */
  readonly subject: string;
  /** `unchecked` if no problem was seen, but there may be one. */
  readonly state: "ok" | "unchecked" | "wrong";
  readonly message: string;
  /** How to fix the problem. */
  readonly fix?: string;
}

export function ok(subject: string, message: string): Check {
  return { subject, state: "ok", message };
}

export function unchecked(subject: string, message: string): Check {
  return { subject, state: "unchecked", message };
}

export function wrong(subject: string, message: string, fix: string): Check {
  return { subject, state: "wrong", message, fix };
}
