import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
// Before a certificate is made: see `check-files.ts`.
import "node:tls";
import { makeCa, makeIdentity } from "../../src/base/pki/make-certificate.ts";
import { runCommandLine } from "../../src/programs/cli/command-line.ts";
import { silentIo } from "../../src/programs/cli/io.suite.ts";

/** A way to start wrongly, and what is said then. $FOLDER and $PORT stand for what the world has. */
export interface StartError {
  readonly args: readonly string[];
  readonly says: string;
}

/** Where commands are started wrongly: files that are no good, and a port that is taken. */
export interface World extends AsyncDisposable {
  /** What is said about these arguments, with the places of the world as they are written in the table. */
  say(args: readonly string[]): Promise<string>;
}

const FILES: Readonly<Record<string, string>> = {
  "text.txt": "hello\n",
  "policy.yaml": "apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Loud}]\n",
  "tokens.csv": "only-a-token\n",
  "no-kind.mjs": "export const nothing = 1;\n",
};

/** Makes one. */
export async function makeWorld(): Promise<World> {
  const folder = await mkdtemp(path.join(tmpdir(), "binnacle-start-"));
  for (const [name, text] of Object.entries(FILES)) await writeFile(path.join(folder, name), text);
  await mkdir(path.join(folder, "folder"));
  const now = Date.now();
  const pair = () => makeIdentity(makeCa("test", now), { commonName: "a", hosts: ["127.0.0.1"] }, "server", now);
  const [one, other] = [pair(), pair()];
  await writeFile(path.join(folder, "cert.pem"), one.certificate);
  await writeFile(path.join(folder, "key.pem"), one.key);
  await writeFile(path.join(folder, "other-key.pem"), other.key);
  const listener = createServer((socket) => void socket.destroy());
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as AddressInfo;
  const places: readonly (readonly [string, string])[] = [
    ["$FOLDER", folder],
    ["$PORT", String(port)],
  ];
  return {
    async say(args) {
      const real = args.map((arg) => places.reduce((text, [name, place]) => text.replaceAll(name, place), arg));
      const io = silentIo({ HOME: folder }, folder);
      const code = await runCommandLine(real, io);
      const said = places.reduce((text, [name, place]) => text.replaceAll(place, name), io.err());
      return `${said.replace(/Use --secure-port \d+/, "Use --secure-port $FREE")}(ends with ${code})`;
    },
    async [Symbol.asyncDispose]() {
      listener.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
