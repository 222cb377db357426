import { RekeyError } from "../domain/errors";
import { ownerOf, type Subject } from "../domain/secretKind";
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
import {
  adminInput,
  adminServer,
  isMoved,
  ownAdminProblems,
  plainAdminProblems,
  plainClientsProblem,
  shownServer,
} from "./admin";
import { SecretRotation, type SubjectSource } from "./rotation";
import { overlapInput, addressInput, rotationInputs, rotationProblems } from "./rotationInputs";
import { type RotationOutputs } from "./rotationOutputs";
import { type RotationInputs } from "./program";

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
    const { admin } = inputs;
    const subject = this.subjectOf({ values: inputs });
    const plain = plainClientsProblem(inputs, run);
    return [
      ...rotationProblems(inputs, this.kind, run),
      ...plainAdminProblems(admin, run),
      ...ownAdminProblems(subject, admin),
      ...(plain ? [{ property: "connection", problem: `is invalid: its tls ${plain}` }] : []),
    ];
  }

  /** One claim for each known name of its server: the id of the database, and the address. */
  override claims(inputs: RotationInputs, settings: Settings): Claim[] {
    const subject = this.subjectOf({ values: inputs });
    if (isUnknown(subject.id)) return [];
    const { id, address } = adminServer(inputs.admin, settings.find("databaseHost"));
    const servers = [...(id ? [{ id }] : []), ...(address ? [{ address }] : [])];
    return servers.map((server) => userClaim({ ...subject, server: shownServer(server) }));
  }

  /** A server that moves changes the URLs, too. */
  override plan(saved: RotationOutputs | undefined, inputs: RotationInputs, run: Run): Planned {
    const planned = super.plan(saved, inputs, run);
    const { changing } = planned;
    if (!saved || !changing || !isMoved(saved["access"], inputs.admin, run)) return planned;
    const urls = ["connectionUrl", "restUrl"].filter((name) => name in saved);
    return { ...planned, changing: [...new Set([...changing, ...urls])] };
  }

  override async import(): Promise<Imported<RotationInputs, RotationOutputs>> {
    const text =
      "A Redis user cannot be imported, because an import does not know its admin. Nothing was sent. Remove the option `import`, and set `initialRotation: false`, which adopts the user without adding a password.";
    throw new RekeyError("REKEY_IMPORT_UNSUPPORTED", text, "not sent");
  }

  protected override subjectOf(source: SubjectSource): Subject {
    const { values, state, settings } = source;
    const given = adminServer((values as RotationInputs).admin, settings?.databaseHost);
    const server = shownServer(given) ?? shownServer(state?.memory.ofSource.server ?? {});
    return { ...super.subjectOf(source), server };
  }
}

/** Why a user with this name cannot be rotated; undefined if it can. */
function userNameProblem(name: string): string | undefined {
  if (name === "") return "must not be empty";
  return /[\s\0]/.test(name)
    ? "must not contain white space or NUL, which Redis does not allow"
    : undefined;
}

function userClaim(subject: Subject): Claim {
  const why =
    "each would retire the password that the other has added. Remove one of them. If both have rotated it, set a new version on the one that stays.";
  return { subject: ownerOf(subject), code: "REKEY_DUPLICATE_SECRET", why };
}
