import { createPrivateKey, createPublicKey, X509Certificate } from "node:crypto";
import { access, constants, readFile, stat } from "node:fs/promises";
import path from "node:path";
// Node 24 has a broken `tls.createSecureContext` if node:crypto makes or reads a certificate before node:tls is loaded.
import "node:tls";
import type { Command } from "commander";
import { Failure } from "../command.ts";

/** What a file has to hold. All others are judged by who reads them. */
type Content = "certificates" | "a private key" | "keys";

const CONTENTS: ReadonlyMap<string, Content> = new Map<string, Content>([
  ["--tls-cert-file", "certificates"],
  ["--tls-private-key-file", "a private key"],
  ["--root-ca-file", "certificates"],
  ["--client-ca-file", "certificates"],
  ["--requestheader-client-ca-file", "certificates"],
  ["--oidc-ca-file", "certificates"],
  ["--etcd-cafile", "certificates"],
  ["--etcd-certfile", "certificates"],
  ["--etcd-keyfile", "a private key"],
  ["--proxy-client-cert-file", "certificates"],
  ["--proxy-client-key-file", "a private key"],
  ["--kubelet-client-certificate", "certificates"],
  ["--kubelet-client-key", "a private key"],
  ["--kubelet-certificate-authority", "certificates"],
  ["--service-account-signing-key-file", "a private key"],
  ["--service-account-key-file", "keys"],
]);

/** A certificate and its key, which are needed together. */
const PAIRS: readonly (readonly [certificate: string, key: string])[] = [
  ["--tls-cert-file", "--tls-private-key-file"],
  ["--etcd-certfile", "--etcd-keyfile"],
  ["--proxy-client-cert-file", "--proxy-client-key-file"],
  ["--kubelet-client-certificate", "--kubelet-client-key"],
];

/** Files that a server writes. */
const WRITTEN = ["--audit-log-path"];
const MAX_PEM_BYTES = 4 * 1024 * 1024;

/**
 * Looks at every file that a flag names before anything is started. Throws a Failure with the flag, the file and what is wrong with
 * it.
 */
export async function checkFiles(command: Command, cwd: string): Promise<void> {
  const values: Readonly<Record<string, unknown>> = command.opts();
  const texts = new Map<string, string>();
  for (const option of command.options) {
    const { long: flag = "", flags } = option;
    if (!/<files?>$/.test(flags) || WRITTEN.includes(flag)) continue;
    const value = values[option.attributeName()];
    for (const file of [value].flat().filter((one) => typeof one === "string")) {
      await checkReadable(flag, path.resolve(cwd, file));
      const content = CONTENTS.get(flag);
      if (content !== undefined) texts.set(flag, await checkContent(flag, path.resolve(cwd, file), content));
    }
  }
  for (const [certificate, key] of PAIRS) checkPair([certificate, texts.get(certificate)], [key, texts.get(key)]);
}

async function checkReadable(flag: string, file: string): Promise<void> {
  const found = await stat(file).catch((error: NodeJS.ErrnoException) => {
    const why = REASONS.get(error.code ?? "") ?? `cannot be read (${error.code})`;
    throw new Failure(`${flag}=${file}: ${why}`, "Paths begin at the folder that the command is started in.");
  });
  if (found.isDirectory())
    throw new Failure(`${flag}=${file}: is a folder, expected a file`, `What is in it: ls ${file}`);
  await access(file, constants.R_OK).catch(() => {
    throw new Failure(`${flag}=${file}: this user may not read it`, `Let it: chmod u+r ${file}, or sudo chown`);
  });
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "there is no such file"],
  ["ENOTDIR", "there is no such file: a part of its path is no folder"],
  ["EACCES", "this user may not look into its folder"],
]);

async function checkContent(flag: string, file: string, content: Content): Promise<string> {
  const { size } = await stat(file);
  if (size > MAX_PEM_BYTES) throw new Failure(`${flag}=${file}: is too large to hold ${content}`);
  const text = await readFile(file, "utf8");
  try {
    READERS[content](text);
  } catch {
    const block = text.match(/-----BEGIN [A-Z0-9 ]{1,40}-----/)?.[0];
    const found = block === undefined ? "no PEM in it" : `it begins with ${block}`;
    throw new Failure(`${flag}=${file}: expected ${content} as PEM; ${found}`, HINTS.get(content));
  }
  return text;
}

const READERS: Readonly<Record<Content, (text: string) => unknown>> = {
  certificates: (text) => new X509Certificate(text),
  "a private key": (text) => createPrivateKey(text),
  keys: (text) => createPublicKey(text),
};

const HINTS: ReadonlyMap<Content, string> = new Map([
  ["certificates", "A certificate begins with -----BEGIN CERTIFICATE-----; were certificate and key swapped?"],
  [
    "a private key",
    "A key begins with -----BEGIN PRIVATE KEY-----, without a passphrase; were certificate and key swapped?",
  ],
]);

const SWAPPED = "Certificate and key are made together: is one of them of another server, or older?";

type Given = readonly [flag: string, text: string | undefined];

function checkPair([certificateFlag, certificate]: Given, [keyFlag, key]: Given): void {
  if (certificate === undefined && key === undefined) return;
  if (certificate === undefined || key === undefined) {
    const [given, missing] = certificate === undefined ? [keyFlag, certificateFlag] : [certificateFlag, keyFlag];
    throw new Failure(`${given} is given without ${missing}: they are needed together`, `Add ${missing} FILE.`);
  }
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    throw new Failure(`${keyFlag}: is not the key of the certificate in ${certificateFlag}`, SWAPPED);
  }
}
