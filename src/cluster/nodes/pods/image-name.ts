const DEFAULT_DOMAIN = "docker.io";
const MAX_PATH = 255;

const INVALID = "invalid reference format";
const DOMAIN_PART = /^[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?$/;
const IPV6 = /^\[[a-fA-F0-9:]+\]$/;
const PATH_PART = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}$/;

/** Why an image has no valid name. Undefined if it has one. Upstream: ParseNormalizedNamed */
export function imageNameProblem(image: string): string | undefined {
  if (/^[a-f0-9]{64}$/.test(image)) {
    return `invalid repository name (${image}), cannot specify 64-byte hexadecimal strings`;
  }
  const { domain, rest } = splitDomain(image);
  const [lowerable = ""] = rest.split(":", 1);
  if (lowerable.toLowerCase() !== lowerable) {
    return `${INVALID}: repository name (${lowerable}) must be lowercase`;
  }
  const [tagged = "", digest, ...more] = rest.split("@");
  const [path = "", tag, ...others] = tagged.split(":");
  const isValid =
    isDomain(domain) &&
    path.split("/").every((part) => PATH_PART.test(part)) &&
    (tag === undefined || TAG.test(tag)) &&
    (digest === undefined || DIGEST.test(digest)) &&
    more.length + others.length === 0;
  if (!isValid) return INVALID;
  return path.length > MAX_PATH ? `repository name must not be more than ${MAX_PATH} characters` : undefined;
}

/** Upstream: splitDockerDomain */
function splitDomain(image: string): { domain: string; rest: string } {
  const slash = image.indexOf("/");
  const first = image.slice(0, Math.max(slash, 0));
  const isDomain = slash >= 0 && (first === "localhost" || /[.:]/.test(first) || first.toLowerCase() !== first);
  if (isDomain) return { domain: first, rest: image.slice(slash + 1) };
  return { domain: DEFAULT_DOMAIN, rest: slash < 0 ? `library/${image}` : image };
}

function isDomain(domain: string): boolean {
  const [, host = "", port] = /^(\[.*\]|[^:]*)(?::(.*))?$/s.exec(domain) ?? [];
  if (port !== undefined && !/^[0-9]+$/.test(port)) return false;
  return IPV6.test(host) || host.split(".").every((part) => DOMAIN_PART.test(part));
}
