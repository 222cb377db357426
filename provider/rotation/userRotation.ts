import { RekeyError } from "../domain/errors";
import { ownerOf } from "../domain/secretKind";
import { isUnknown } from "../pulumi/values";
import {
  type Claim,
  type Imported,
  type InputProblem,
  type Planned,
  type TableOf,
} from "../resource/resource";
import { type Run } from "../run/run";
import { type Settings } from "../settings/settings";
import { adminProblem, readAdmin, serverNames } from "./program/admin";
import { stateIn } from "./memory/state";
import { claimPassword } from "./sources/user/userSource";
import { readProgram, type RotationInputs } from "./program/program";
import { SecretRotation } from "./rotation";
import {
  addressInput,
  adminInput,
  overlapInput,
  rotationInputs,
  rotationProblems,
} from "./program/rotationInputs";
import { type RotationOutputs } from "./outputs/rotationOutputs";

/** The resource that rotates the password of a Redis user, on the server that `admin` names. */
export class UserRotation extends SecretRotation {
  readonly secretInputs = ["admin"];
  override readonly isSameId = (saved: string, given: string): boolean => saved === given;

  override readonly inputs: TableOf = (schemas) => {
    const { text, refuseIf } = schemas;
    return {
      required: [this.idInput, "admin"],
      schemas: {
        [this.idInput]: text.superRefine(refuseIf(userNameProblem)),
        admin: adminInput(schemas),
        ...addressInput(schemas),
        ...rotationInputs(schemas),
        overlap: overlapInput(schemas),
      },
    };
  };

  override check(inputs: RotationInputs, run: Run): InputProblem[] {
    // A wrong setting is reported before anything is sent.
    const program = readProgram(inputs, this.kind, run.options.settings.databaseHost);
    const { admin } = program;
    const subject = this.subjectOf(inputs, undefined, admin);
    const wrong = admin && adminProblem(subject, admin);
    return [...rotationProblems(program, this.kind, run), ...(wrong ? [wrong] : [])];
  }

  override plan(saved: RotationOutputs | undefined, inputs: RotationInputs, run: Run): Planned {
    const state = saved && stateIn(saved);
    const { hash } = state?.memory.kindFacts ?? {};
    const admin = readAdmin(inputs.admin, run.options.settings.find("databaseHost"));
    const subject = this.subjectOf(inputs, state, admin);
    if (hash !== undefined) claimPassword({ subject, run }, hash);
    return super.plan(saved, inputs, run);
  }

  /** One claim for each known name of its server. */
  override readonly claims = (inputs: RotationInputs, settings: Settings): Claim[] => {
    const subject = this.subjectOf(inputs);
    if (isUnknown(subject.id)) return [];
    const admin = readAdmin(inputs.admin, settings.find("databaseHost"));
    return serverNames(admin?.server).map((server) => ({
      subject: ownerOf({ ...subject, server }),
      code: "REKEY_DUPLICATE_SECRET",
      why: "each would retire the password that the other has added. Remove one of them. If both have rotated it, set a new version on the one that stays.",
    }));
  };

  override async import(): Promise<Imported<RotationInputs, RotationOutputs>> {
    const text =
      "A Redis user cannot be imported, because an import does not know its admin. Nothing was sent. Remove the option `import`, and set `initialRotation: false`, which adopts the user without adding a password.";
    throw new RekeyError("REKEY_IMPORT_UNSUPPORTED", text, "not sent");
  }
}

/** Why a user with this name cannot be rotated; undefined if it can. */
function userNameProblem(name: string): string | undefined {
  if (name === "") return "must not be empty";
  return /[\s\0\x7f-\x9f\p{Default_Ignorable_Code_Point}]/u.test(name)
    ? "must not contain white space or NUL, which Redis does not allow, or invisible characters"
    : undefined;
}
