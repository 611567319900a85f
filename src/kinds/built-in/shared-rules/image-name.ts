import { getMember } from "../../../base/util/members.ts";

const WORD = "[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*";
const HOST_PART = "[a-zA-Z0-9]+(?:-+[a-zA-Z0-9]+)*";
const HOST = `(?:${HOST_PART}(?:\\.${HOST_PART})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const TAG = "[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}";
const DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}";
const REFERENCE = new RegExp(`^((?:${HOST}/)?)(${WORD}(?:/${WORD})*)(?::(${TAG}))?(?:@(${DIGEST}))?$`);
const DIGEST_DIGITS: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

const MAX_PATH = 255;
const MAX_LENGTH = 2048;

/**
 * The tag of an image name: "latest" if it has neither a tag nor a digest, "" if it only has a digest or is not an
 * image name.
 */
export function imageTag(image: string): string {
  if (image.length > MAX_LENGTH || /^[a-f0-9]{64}$/.test(image)) return "";
  const [host, rest] = splitHost(image);
  const [, , path = "", tag = "", digest = ""] = REFERENCE.exec(`${host}/${rest}`) ?? [];
  if (path === "" || path.length > MAX_PATH || (digest !== "" && !isDigest(digest))) return "";
  return tag === "" && digest === "" ? "latest" : tag;
}

const HUB = "docker.io";

/** The registry and the rest. The first part is a registry only if it looks like a host. */
function splitHost(image: string): [string, string] {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(0, slash));
  const isHost = first === "localhost" || /[.:A-Z]/.test(first);
  const host = isHost && first !== `index.${HUB}` ? first : HUB;
  const rest = isHost ? image.slice(slash + 1) : image;
  return [host, host === HUB && !rest.includes("/") ? `library/${rest}` : rest];
}

function isDigest(digest: string): boolean {
  const [algorithm = "", digits = ""] = digest.split(":");
  return /^[a-f0-9]+$/.test(digits) && getMember(DIGEST_DIGITS, algorithm) === digits.length;
}
