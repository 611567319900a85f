// Options of a replay, and the scenarios they choose.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const corpus = path.join(path.dirname(fileURLToPath(import.meta.url)), '..');

export const OPTIONS_HELP = `   --base URL         address of the server, https://... (certificate not verified) or http://...
   --token T          bearer token of a user who may do everything
   --user NAME=TOKEN  bearer token of another user a scenario speaks as (repeatable)
   --only GLOB        run only the scenarios whose name matches (repeatable, or comma separated)
   --skip GLOB        leave out the scenarios whose name matches (repeatable, or comma separated)
   --release R        run only the scenarios recorded from that release, e.g. 1.37
   --with NAME        also run the scenarios that need a server set up in a certain way, e.g. compaction
   --ignore NAME      leave a field out of every comparison, e.g. managedFields (repeatable)
   --codes            compare status codes only: a first reading of an incomplete server
   --jobs N           run N scenarios at the same time
   --patience S       never wait longer than S seconds for something a scenario waits for
   --timeout S        give up a request after S seconds (default 60)
   --diffs N          differences shown per scenario (default 5)
   --json FILE        write the full result as JSON
   --record DIR       write the answers of this server as the recorded ones instead of comparing
   --keep             do not delete what the scenarios created
   --steps            print one line per step
   --quiet            print only scenarios that differ, and the totals`;

// Throws an Error with a sentence for the user when an option is unknown or lacks its value.
export function parseOptions(argv) {
  const options = {
    base: process.env.GOLDEN_BASE, token: process.env.GOLDEN_TOKEN, users: {}, only: [], skip: [], ignore: [], with: [], diffs: 5,
    jobs: 1, patience: Infinity, timeout: 60, release: null, record: null, json: null, keep: false, codes: false, steps: false, quiet: false,
    scenarios: path.join(corpus, 'scenarios'), recorded: path.join(corpus, 'recorded'),
  };
  for (let i = 0; i < argv.length; i++) {
    const [flag, inline] = argv[i].split(/=(.*)/s, 2);
    const value = () => {
      const text = inline ?? argv[++i];
      if (text === undefined) throw new Error(`${flag} needs a value`);
      return text;
    };
    const number = () => {
      const n = Number(value());
      if (!(n >= 0)) throw new Error(`${flag} needs a number`);
      return n;
    };
    switch (flag) {
      case '--base': options.base = value().replace(/\/$/, ''); break;
      case '--token': options.token = value(); break;
      case '--user': {
        const [name, token] = value().split(/=(.*)/s, 2);
        options.users[name] = token;
        break;
      }
      case '--only': case '--skip': case '--ignore': case '--with': options[flag.slice(2)].push(...value().split(',')); break;
      case '--release': case '--json': case '--record': case '--scenarios': case '--recorded': options[flag.slice(2)] = value(); break;
      case '--jobs': case '--patience': case '--timeout': case '--diffs': options[flag.slice(2)] = number(); break;
      case '--keep': case '--codes': case '--steps': case '--quiet': options[flag.slice(2)] = true; break;
      default: throw new Error(`unknown option ${flag}`);
    }
  }
  return options;
}

const globToRegExp = (glob) =>
  new RegExp('^' + glob.replace(/[.+^${}()|[\]\\]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.') + '$');

// In the order of their names.
export function loadScenarios(options) {
  const only = options.only.map(globToRegExp);
  const skip = options.skip.map(globToRegExp);
  return fs.readdirSync(options.scenarios).filter((f) => f.endsWith('.json')).sort()
    .map((file) => JSON.parse(fs.readFileSync(path.join(options.scenarios, file), 'utf8')))
    .filter((s) => only.length === 0 || only.some((re) => re.test(s.name)))
    .filter((s) => !skip.some((re) => re.test(s.name)))
    .filter((s) => !options.release || s.release === options.release)
    .filter((s) => !s.optional || options.with.includes(s.optional));
}

// What the real server answered, by step id; null where nothing was recorded.
export function loadRecorded(scenario, options) {
  const file = path.join(options.recorded, `${scenario.name}.json`);
  return fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')).steps : null;
}
