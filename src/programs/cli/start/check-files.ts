import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { access, constants, readFile, stat } from "node:fs/promises";
import path from "node:path";
// Node 24 has a broken `tls.createSecureContext` if node:crypto makes or reads a certificate before node:tls is loaded.
import "node:tls";
import type { Command } from "commander";
import type { FileContent } from "../../../base/options/value-types.ts";
import { Failure } from "../command.ts";
import { DeclaredFlag } from "../flags/declared-flags.ts";

type Content = Exclude<FileContent, "anything">;

/** A certificate and its key, which require each other. */
const PAIRS: readonly (readonly [certificate: string, key: string])[] = [
  ["--tls-cert-file", "--tls-private-key-file"],
  ["--etcd-certfile", "--etcd-keyfile"],
  ["--proxy-client-cert-file", "--proxy-client-key-file"],
  ["--kubelet-client-certificate", "--kubelet-client-key"],
];

const MAX_PEM_BYTES = 4 * 1024 * 1024;

/** Checks every file that a flag names before the start. Throws a Failure with the flag, the file and the problem. */
export async function checkFiles(command: Command, cwd: string): Promise<void> {
  const values: Readonly<Record<string, unknown>> = command.opts();
  const texts = new Map<string, string>();
  for (const option of command.options) {
    const content = option instanceof DeclaredFlag ? option.declared.type.reads : undefined;
    if (content === undefined) continue;
    const { long: flag = "" } = option;
    for (const name of [values[option.attributeName()]].flat().filter((one) => typeof one === "string")) {
      const file = path.resolve(cwd, name);
      await checkReadable(flag, file);
      if (content !== "anything") texts.set(flag, await checkContent(flag, file, content));
    }
  }
  for (const [certificate, key] of PAIRS) checkPair([certificate, texts.get(certificate)], [key, texts.get(key)]);
}

async function checkReadable(flag: string, file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = REASONS.get(error.code ?? "") ?? `cannot be read (${error.code})`;
    throw new Failure(`${flag}=${file}: ${why}`, "Relative paths start at the working directory.");
  });
  if (found.isDirectory())
    throw new Failure(`${flag}=${file}: is a folder, expected a file`, `List its files: ls ${file}`);
  await access(file, constants.R_OK).catch(() => {
    throw new Failure(`${flag}=${file}: permission denied`, `Allow it: chmod u+r ${file}, or change the owner`);
  });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "no such file"],
  ["ENOTDIR", "no such file: a part of the path is not a folder"],
  ["EACCES", "permission denied for its folder"],
]);

async function checkContent(flag: string, file: string, content: Content): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_PEM_BYTES)
    throw new Failure(`${flag}=${file}: is too large for ${content} (more than ${MAX_PEM_BYTES} bytes)`);
  const text = await readFile(file, "utf8");
  try {
    READERS[content](text);
  } catch {
    const block = text.match(/-----BEGIN [A-Z0-9 ]{1,40}-----/)?.[0];
    const found = block === undefined ? "found no PEM block" : `found ${block}`;
    throw new Failure(`${flag}=${file}: expected ${content} in PEM format, ${found}`, HINTS.get(content));
  }
  return text;
}

const READERS: Readonly<Record<Content, (text: string) => unknown>> = {
  certificates: (text) => new X509Certificate(text),
  "a private key": (text) => createPrivateKey(text),
  keys: (text) => createPublicKey(text),
};

const HINTS: ReadonlyMap<Content, string> = new Map([
  ["certificates", "A certificate begins with -----BEGIN CERTIFICATE-----. Are certificate and key swapped?"],
  [
    "a private key",
    "A key begins with -----BEGIN PRIVATE KEY----- and has no passphrase. Are certificate and key swapped?",
  ],
]);

const MISMATCH = "Use a certificate and a key that were generated together.";

type Given = readonly [flag: string, text: string | undefined];

function checkPair([certificateFlag, certificate]: Given, [keyFlag, key]: Given): void {
  if (certificate === undefined && key === undefined) return;
  if (certificate === undefined || key === undefined) {
    const [given, missing] = certificate === undefined ? [keyFlag, certificateFlag] : [certificateFlag, keyFlag];
    throw new Failure(`${given} requires ${missing}`, `Add ${missing} FILE.`);
  }
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Failure(`${keyFlag}: does not match the certificate of ${certificateFlag}`, MISMATCH);
  }
}
