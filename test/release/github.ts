import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import { type Folder } from "../support/folder";
import { SocketServer } from "../support/socketServer";
import { caFile, certificate } from "../faults/certificates";

/**
 * What `scripts/release.mjs` uses of `gh`, on a folder of releases: each is a folder with its files, and complete once
 * it has the file `.released`. Both programs fail at the command that CUT matches, as if the job had ended there.
 */
const programs = {
  gh: `#!/bin/sh
case "$*" in $CUT) echo "cut: gh $*" >&2; exit 1;; esac
release="$RELEASES/$3"
case "$1 $2" in
"release view") [ -d "$release" ] || exit 1; [ -e "$release/.released" ] && echo false || echo true;;
"release create") [ "$4" = --draft ] && git rev-parse --quiet --verify "refs/tags/$3" && mkdir "$release";;
"release upload") shift 3; for file; do [ "$file" = --clobber ] || cp "$file" "$release/" || exit 1; done;;
"release edit") [ "$4" = --draft=false ] && touch "$release/.released";;
*) echo "unknown: gh $*" >&2; exit 1;;
esac
`,
  npm: (npm: string) => `#!/bin/sh
case "$*" in $CUT) echo "cut: npm $*" >&2; exit 1;; esac
exec "${npm}" "$@"
`,
};

/** GitHub's releases: `gh` makes them, and Pulumi's engine downloads them, for which a draft does not exist. */
export class GitHub {
  /** For `scripts/release.mjs`. */
  readonly environment: Record<string, string>;
  /** For the engine, so that it accepts the certificate. */
  readonly certificates = { SSL_CERT_FILE: caFile };

  private constructor(
    private readonly releases: string,
    private readonly server: SocketServer,
    folder: Folder,
    npm: string,
  ) {
    folder.write("bin/gh", programs.gh, 0o755);
    folder.write("bin/npm", programs.npm(npm), 0o755);
    this.environment = { RELEASES: this.releases, PATH: `${folder.path("bin")}:${process.env["PATH"]}` };
  }

  static async start(folder: Folder, npm: string): Promise<GitHub> {
    folder.write("releases/README", "");
    const releases = folder.path("releases");
    const serve = createServer(certificate("good"), (request, response) => {
      const [, tag = "", file = ""] = /\/releases\/tags\/([^/]+)(?:\/(.+))?$/.exec(request.url ?? "") ?? [];
      const release = join(releases, tag);
      if (tag === "" || !existsSync(join(release, ".released"))) return void response.writeHead(404).end();
      if (file !== "") return void response.end(readFileSync(join(release, file)));
      const url = `https://${request.headers.host}${request.url}`;
      const assets = readdirSync(release).map((name) => ({ name, url: `${url}/${name}` }));
      response.end(JSON.stringify({ tag_name: tag, assets }));
    });
    return new GitHub(releases, await new SocketServer(serve).listen(), folder, npm);
  }

  get host(): string {
    return `localhost:${this.server.port}`;
  }

  /** The files of a release. */
  filesOf(tag: string): string[] {
    const folder = join(this.releases, tag);
    return existsSync(folder) ? readdirSync(folder) : [];
  }

  close(): Promise<void> {
    return this.server.close();
  }
}
