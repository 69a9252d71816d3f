// What the harness's checks begin with: their arguments, a scratch folder, a client's home and the logs to look at.
import { existsSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { namedSources, ownSources, sharedSources } from './sources.mjs'
import { homeIn } from './trial.mjs'

// begin reads the arguments of the check of a name. What lies in the scratch folder goes at the end, unless it is to be kept.
export async function begin (name) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      shared: { type: 'string' }, also: { type: 'string', multiple: true, default: [] }, only: { type: 'string', default: '' },
      jobs: { type: 'string', default: '3' }, every: { type: 'string', default: '1' }, keep: { type: 'string' }, verbose: { type: 'boolean', default: false },
    },
  })
  const jobs = Number(values.jobs)
  const every = Number(values.every)
  if (positionals.length !== 1 || !(jobs >= 1 && jobs <= 6) || !(every >= 1) || !existsSync(positionals[0])) {
    console.error(`usage: node ${name}.mjs BIN [--shared DIR] [--also DIR…] [--only WORD] [--jobs 1 to 6] [--every N] [--keep DIR] [--verbose]`)
    process.exit(2)
  }
  const scratch = values.keep === undefined ? await mkdtemp(join(tmpdir(), `sessfix-harness-${name}-`)) : resolve(values.keep)
  await mkdir(scratch, { recursive: true })
  if (values.keep === undefined) process.on('exit', () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }))

  const env = await homeIn(join(scratch, 'client'))
  const sources = [
    ...await ownSources(scratch, env, { every }),
    ...values.shared === undefined ? [] : await sharedSources(resolve(values.shared)),
    ...await namedSources(values.also.map(path => resolve(path))),
  ].filter(({ name }) => name.includes(values.only))
  return { binary: resolve(positionals[0]), jobs, scratch, env, sources, keeps: values.keep !== undefined, verbose: values.verbose }
}
