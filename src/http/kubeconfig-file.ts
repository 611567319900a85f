import { readFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";

const PATIENCE_MS = 500;
const KEY = "server: ";

/**
 * Which file of a folder is to tell administrators how to reach the server at `url`: `kubeconfig`, or `kubeconfig-PORT`
 * while another server of the same folder answers at the address that the first one names.
 */
export async function chooseKubeconfigFile(folder: string, url: string): Promise<string> {
  const usual = path.resolve(folder, "kubeconfig");
  const text = await readFile(usual, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    return "";
  });
  const line = text.split("\n").find((one) => one.trimStart().startsWith(KEY));
  const other = line?.trim().slice(KEY.length);
  if (other === undefined || other === url || !(await answers(other))) return usual;
  return path.resolve(folder, `kubeconfig-${new URL(url).port}`);
}

/** Whether anybody listens there. */
function answers(url: string): Promise<boolean> {
  const parsed = URL.parse(url);
  if (parsed === null) return Promise.resolve(false);
  const host = parsed.hostname.replace(/^\[|\]$/g, "");
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(parsed.port) || 443, timeout: PATIENCE_MS });
    const end = (isThere: boolean) => () => {
      socket.destroy();
      resolve(isThere);
    };
    socket.on("connect", end(true)).on("error", end(false)).on("timeout", end(false));
  });
}
