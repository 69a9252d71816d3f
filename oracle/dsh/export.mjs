// node export.mjs OUTDIR: the generated sessions, flat, for Go tests that run without Node:
// NAME.v0.jsonl, NAME.v0.jsonl.zstd, NAME.v3.jsonl, and the closers that the client would add,
// NAME.closers.json for version 0 and NAME.v3.closers.json. A log that the client refuses has none.
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { writeSessions } from './lib/sessions.mjs'
import { judge } from './lib/verdict.mjs'

const [out] = process.argv.slice(2)
if (out === undefined) {
  console.error('usage: node export.mjs OUTDIR')
  process.exit(2)
}
const scratch = await mkdtemp(join(tmpdir(), 'sessfix-export-'))
await mkdir(out, { recursive: true })
let count = 0
for (const item of await writeSessions(scratch)) {
  if (item.version === 2 || (item.version === 3 && item.encoding === 'zstd')) continue
  const file = join(scratch, item.file)
  await copyFile(file, join(out, item.name))
  count += 1
  if (item.encoding === 'zstd') continue
  const { verdict } = await judge({ ...item, file, root: join(scratch, item.root) })
  if (!verdict.loads) continue
  const name = item.version === 0 ? `${item.id}.closers.json` : `${item.id}.v${item.version}.closers.json`
  await writeFile(join(out, name), verdict.closers.length === 0 ? '[]\n' : `[\n${verdict.closers.map(closer => JSON.stringify(closer)).join(',\n')}\n]\n`)
}
await rm(scratch, { recursive: true })
console.log(`${count} logs in ${out}`)
process.exit(0)
