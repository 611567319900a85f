const [MAJOR, MINOR] = [24, 15];

/** Returns an error message if this version of Node is too old. The syntax is old enough for any version to parse. */
export function nodeProblem(version: string): string | undefined {
  const parts = version.split(".");
  const major = Number(parts[0]);
  const isEnough = major > MAJOR || (major === MAJOR && Number(parts[1]) >= MINOR);
  return isEnough ? undefined : `Node ${MAJOR}.${MINOR} or newer is required, this is ${version}`;
}
