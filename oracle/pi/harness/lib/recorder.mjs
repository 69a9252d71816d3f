// node recorder.mjs NAME FOLDER [ID]: does one run in FOLDER. `began.json` tells how long the log was when each call began. It hangs in the
// call with this id, until it is killed.
import { appendFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { context, repoIn } from './agent.mjs'
import { doRun } from './runs.mjs'

const [name, folder, last] = process.argv.slice(2)
const session = await repoIn(folder).create({ cwd: '/home/user/harbour' }, context)
await doRun(name, session, (id) => {
  appendFileSync(join(folder, 'began.jsonl'), `${JSON.stringify({ id, size: statSync(session.metadata.path).size })}\n`)
  if (id === last) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
process.exit(0)
