// What the checks of forks and of migrations begin with: their arguments, the client, and a scratch folder that goes with them.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { PROGRAM, releaseOf } from './client.mjs'

/** name is the script's without .mjs. */
export async function begin(name) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      shared: { type: 'string' }, keep: { type: 'string' }, client: { type: 'string' }, jobs: { type: 'string', default: '2' },
      every: { type: 'string', default: '1' }, only: { type: 'string', default: '' }, also: { type: 'string', multiple: true, default: [] },
    },
  })
  const [binary, ...more] = positionals.map((path, n) => n === 0 ? resolve(path) : path)
  const jobs = Number(values.jobs)
  if (binary === undefined || !existsSync(binary) || !(jobs >= 1 && jobs <= 4)) {
    console.error(`usage: node ${name}.mjs BIN [--shared DIR] [--also PATH…] [--client PROGRAM] [--jobs 1 to 4] [--every N] [--only WORD] [--keep DIR]`)
    process.exit(2)
  }
  const program = values.client === undefined ? PROGRAM : resolve(values.client)
  // Which sessions are healthy depends on the release that opens them.
  const verify = ['verify', ...values.client === undefined ? [] : ['--client', await releaseOf(program)]]
  const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), `sessfix-claude-${name}-`)) : resolve(values.keep)
  await mkdir(scratch, { recursive: true })
  if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
  return { values, binary, more, jobs, program, verify, scratch }
}
