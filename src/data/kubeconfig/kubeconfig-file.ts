import { readFile } from "node:fs/promises";
import path from "node:path";
import { connect } from "node:tls";

const PATIENCE_MS = 3000;
const SERVER = "server: ";
const AUTHORITY = "certificate-authority-data: ";

/**
 * Chooses the kubeconfig file in a folder for the server at `url`: `kubeconfig`, or `kubeconfig-PORT` while another
 * server of the same folder is running at the address in `kubeconfig`.
 */
export async function chooseKubeconfigFile(folder: string, url: string): Promise<string> {
  const usual = path.resolve(folder, "kubeconfig");
  const text = await readFile(usual, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  const other = memberOf(text, SERVER);
  const authority = memberOf(text, AUTHORITY);
  if (other === undefined || authority === undefined || other === url) return usual;
  if (!(await isServedBy(other, Buffer.from(authority, "base64")))) return usual;
  return path.resolve(folder, `kubeconfig-${new URL(url).port}`);
}

function memberOf(text: string, key: string): string | undefined {
  const line = text.split("\n").find((one) => one.trimStart().startsWith(key));
  return line?.trim().slice(key.length);
}

/**
 * Whether a server with a certificate of this CA listens at the URL, as opposed to another program that has taken the
 * port.
 */
function isServedBy(url: string, authority: Buffer): Promise<boolean> {
  const parsed = URL.parse(url);
  if (parsed === null) return Promise.resolve(false);
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({
      host,
      port: Number(parsed.port) || 443,
      ca: authority,
      allowPartialTrustChain: true,
      timeout: PATIENCE_MS,
      checkServerIdentity: () => undefined,
    });
    const end = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on("secureConnect", end(true)).on("error", end(false)).on("timeout", end(false));
  });
}
