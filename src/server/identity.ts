import { randomBytes } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import path from "node:path";
import { parseTokenFile, type StaticToken } from "../auth/token-file.ts";
import { type AdminCertificates, ensureAdmin, ensureCertificates, isExpiring } from "../http/certificates.ts";
import { printKubeconfig } from "../http/kubeconfig.ts";
import { writeWhole } from "../http/private-file.ts";
import type { Log } from "../lib/environment.ts";
import type { RefreshServing, ServingPair } from "./certificate-renewal.ts";
import type { Config } from "./config.ts";

/** By what the server is known to its clients, and they to it. */
export interface Identity {
  readonly tls: ServingPair;
  /** The serving certificate as it is to be now: what is configured is read again, what is ours renewed when it is time. */
  readonly refreshServing: RefreshServing;
  /** The authority that clients are to trust, as PEM. */
  readonly authority: string;
  /** The authority that signed the administrator's certificate, as PEM. Absent: there is none with `--client-ca-file`. */
  readonly ownAuthority: string | undefined;
  /** Those of `--token-auth-file`. */
  readonly tokens: readonly StaticToken[];
  readonly kubeconfigFile: string;
  readonly admin: StaticToken;
  /** Writes the administrator's kubeconfig once the address is known. */
  saveKubeconfig(url: string): Promise<void>;
}

/** Reads what is configured and makes the rest, once: a serving certificate, an administrator's token. */
export async function prepareIdentity(config: Config, log: Log): Promise<Identity> {
  await mkdir(config.certDir, { recursive: true, mode: 0o700 });
  const serving = await servingCertificate(config);
  const { certificate, key, authority } = serving;
  const adminCertificate = new AdminCertificate(config);
  await adminCertificate.refresh(Date.now());
  const adminToken = await ensureAdminToken(path.join(config.certDir, "admin-token"), log);
  const listed = await listedTokens(config.tokenAuthFile, log);
  const admin: StaticToken = {
    token: adminToken,
    user: { name: "kubernetes-admin", groups: ["system:masters", "system:authenticated"] },
  };
  const kubeconfigFile = path.resolve(config.certDir, "kubeconfig");
  let savedUrl: string | undefined;
  const saveKubeconfig = async (url: string): Promise<void> => {
    const { current } = adminCertificate;
    const user = current ? { identity: current.admin } : { token: adminToken };
    await writeWhole(kubeconfigFile, printKubeconfig({ server: url, authority, user }));
    savedUrl = url;
  };
  const refreshOne = refresher(config, serving);
  return {
    tls: { certificate, key },
    async refreshServing(nowMs) {
      if ((await adminCertificate.refresh(nowMs)) && savedUrl !== undefined) await saveKubeconfig(savedUrl);
      return refreshOne(nowMs);
    },
    authority,
    ownAuthority: adminCertificate.current?.authority.certificate,
    tokens: listed,
    kubeconfigFile,
    admin,
    saveKubeconfig,
  };
}

/** The administrator's certificate, by an authority of our own. There is none with `--client-ca-file`, which may not know us. */
class AdminCertificate {
  readonly #config: Config;
  current: AdminCertificates | undefined;

  constructor(config: Config) {
    this.#config = config;
  }

  /** Makes it where there is none, or only one that is about to expire. Resolves to whether it is another one now. */
  async refresh(nowMs: number): Promise<boolean> {
    if (this.#config.clientCaFile !== undefined) return false;
    const known = this.current?.admin.certificate;
    if (known !== undefined && !isExpiring(known, nowMs)) return false;
    this.current = await ensureAdmin(this.#config.certDir, nowMs);
    return this.current.admin.certificate !== known;
  }
}

/** The certificate to serve with, and the authority that clients are to trust for it, all as PEM. */
interface Serving {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
  /** Whether it is ours to renew. */
  readonly isOwn: boolean;
}

/** Files that are configured or were there already may change at any time; those that we made only when they are about to expire. */
function refresher(config: Config, first: Serving): RefreshServing {
  let latest = first;
  return async (now) => {
    if (latest.isOwn && !isExpiring(latest.certificate, now)) return latest;
    const next = await servingCertificate(config, now);
    // Clients trust the authority that they were given. A new one, as after a loss of the files, takes a restart.
    if (first.isOwn && next.authority !== first.authority) throw new Error("the authority is new");
    latest = next;
    return next;
  };
}

async function servingCertificate(config: Config, now?: number): Promise<Serving> {
  const { tlsCertFile, tlsPrivateKeyFile } = config;
  if (tlsCertFile !== undefined && tlsPrivateKeyFile !== undefined) {
    const [certificate, key] = await Promise.all([readFile(tlsCertFile, "utf8"), readFile(tlsPrivateKeyFile, "utf8")]);
    return { certificate, key, authority: certificate, isOwn: false };
  }
  if (tlsCertFile !== undefined || tlsPrivateKeyFile !== undefined) {
    throw new Error("--tls-cert-file and --tls-private-key-file are needed together");
  }
  const { authority, serving, isForeign } = await ensureCertificates(config.certDir, {
    bindAddress: config.bindAddress,
    serviceRange: config.serviceClusterIpRange,
    now,
  });
  const trusted = isForeign ? serving : authority;
  return { ...serving, authority: trusted.certificate, isOwn: !isForeign };
}

async function listedTokens(file: string | undefined, log: Log): Promise<StaticToken[]> {
  if (file === undefined) return [];
  return parseTokenFile(await readFile(file, "utf8"), file, (text) => log.warn(text));
}

/** The token that the file holds. A missing or empty one, such as a full disk once left behind, is written anew. */
async function ensureAdminToken(file: string, log: Log): Promise<string> {
  const known = await readFile(file, "utf8").then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOENT") throw error;
    },
  );
  if (known) {
    // A bearer token with anything else in it could not be sent.
    if (!/^[!-~]+$/.test(known)) throw new Error(`${file} must hold one token of printable ASCII characters`);
    return known;
  }
  if (known === "") log.warn("the file of the administrator's token was empty; there is a new token in it", { file });
  const token = randomBytes(24).toString("base64url");
  await writeWhole(file, `${token}\n`);
  return token;
}
