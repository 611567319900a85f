import type { Credentials } from "./lines.ts";
import type { Site } from "./site.ts";

/** Who the administrator is. */
export async function credentialsOf(site: Site): Promise<Credentials> {
  const read = (name: string) => site.read("cluster", name);
  const [ca, cert, key] = await Promise.all([read("ca.crt"), read("admin.crt"), read("admin.key")]);
  return { ca, cert, key };
}
