import { readFileSync } from "node:fs";
import path from "node:path";

/**
 * node tools/release-notes.ts TAG
 * Prints the section of CHANGELOG.md that belongs to a tag. Fails if the tag is not that of the version in package.json, or if the
 * section is missing or empty.
 */
const root = path.join(import.meta.dirname, "..");

/** The notes for a tag such as v1.2.3. Throws if the tag, the version or the changelog do not fit together. */
export function releaseNotes(tag: string, version: string, changelog: string): string {
  if (tag !== `v${version}`) throw new Error(`the tag is ${tag}, but package.json has version ${version}`);
  const [, ...sections] = changelog.split(/^## /m);
  const section = sections.find((text) =>
    new RegExp(`^\\[?${version.replaceAll(".", "\\.")}\\]?(?![\\w.-])`).test(text),
  );
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  const notes = section.slice(section.indexOf("\n") + 1).trim();
  if (notes === "") throw new Error(`the section "## ${version}" of CHANGELOG.md is empty`);
  return notes;
}

if (import.meta.main) {
  const { version } = JSON.parse(readFileSync(path.join(root, "package.json"), "utf8"));
  const changelog = readFileSync(path.join(root, "CHANGELOG.md"), "utf8");
  process.stdout.write(`${releaseNotes(process.argv[2] ?? "", version, changelog)}\n`);
}
