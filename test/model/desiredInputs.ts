/** The inputs of one resource in a program. */
export interface DesiredInputs {
  readonly databaseId: string;
  readonly version?: string | number | undefined;
  readonly triggers?: Readonly<Record<string, string | number | null>> | undefined;
  readonly rotateEvery?: keyof typeof hoursOf | undefined;
  readonly initialRotation?: boolean | undefined;
}

/** The intervals that programs here use, in hours. */
export const hoursOf = { "12h": 12, P1D: 24, "7d": 168 } as const;

/** Names of the resources that a program may have; each has databases of its own. */
export const names = ["a", "b"] as const;
export type Name = (typeof names)[number];
export type DesiredProgram = Partial<Record<Name, DesiredInputs>>;

/** The model's own identity of a trigger; undefined if the program has neither a version nor triggers. */
export function triggerOf({ version, triggers = {} }: DesiredInputs): string | undefined {
  const given = Object.entries(triggers).filter(([, value]) => value !== null);
  if (version === undefined && given.length === 0) return undefined;
  const lines = given.map(([name, value]) => `${name}=${value}`).sort();
  return [version === undefined ? "no version" : `version=${version}`, ...lines].join("\n");
}
