// node judge.mjs [LIST]: LIST is a JSON file (or standard input) with [{name, file, id?, root?}], as the
// index.json of generate.mjs and damage.mjs. One line of JSON for each log, in the order of the list.
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { judge } from './lib/verdict.mjs'

process.on('unhandledRejection', error => console.error(`behind a verdict: ${error?.message}`))
const [list] = process.argv.slice(2)
const base = list === undefined ? '.' : dirname(list)
for (const log of JSON.parse(readFileSync(list ?? 0, 'utf8'))) {
  const { verdict } = await judge({
    ...log,
    name: log.name ?? log.kind ?? log.file,
    file: resolve(base, log.file),
    root: log.root === undefined ? undefined : resolve(base, log.root),
  })
  console.log(JSON.stringify(verdict))
}
process.exit(0)
