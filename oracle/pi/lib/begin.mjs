// What checks of forks and upgrades begin with: their arguments, and a scratch folder that goes with them.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** name is the script's without .mjs, more are options of its own, as parseArgs takes them, and usage tells them. */
export async function begin(name, isInstalled, more = {}, usage = '') {
  const { values, positionals: [binary, ...paths] } = parseArgs({
    allowPositionals: true,
    options: {
      shared: { type: 'string' }, only: { type: 'string', default: '' }, jobs: { type: 'string', default: '2' }, every: { type: 'string', default: '1' },
      keep: { type: 'string' }, verbose: { type: 'boolean', default: false }, ...more,
    },
  })
  const jobs = Number(values.jobs)
  const every = Number(values.every)
  const wrong = binary === undefined || !(jobs >= 1 && jobs <= 6) || !(every >= 1)
  if (wrong || !existsSync(binary) || !isInstalled()) {
    console.error(wrong ? `usage: node ${name}.mjs BIN [PATH…] [--shared DIR]${usage} [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR] [--verbose]` : `${name}.mjs: ${isInstalled() ? binary : 'the client'} is not there`)
    process.exit(2)
  }
  const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), `sessfix-${name}-`)) : resolve(values.keep)
  await mkdir(scratch, { recursive: true })
  if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))
  return { values, binary, paths, jobs, every, scratch }
}
