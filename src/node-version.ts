const [MAJOR, MINOR] = [24, 15];

/** Why this version of Node cannot run the server; undefined: it can. Written so that old versions can read it. */
export function nodeProblem(version: string): string | undefined {
  const parts = version.split(".");
  const major = Number(parts[0]);
  const isEnough = major > MAJOR || (major === MAJOR && Number(parts[1]) >= MINOR);
  return isEnough ? undefined : `Node ${MAJOR}.${MINOR} or newer is needed, this is ${version}`;
}
