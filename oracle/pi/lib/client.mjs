// The published clients: where they are installed, and the small world in which they run.
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { start } from './processes.mjs'

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url))
export const PACKAGES = { current: '@earendil-works/pi-coding-agent', legacy: 'pi-legacy' }
const PROGRAMS = { current: 'dist/bundle/cli.js', legacy: 'dist/cli.js' }

const programOf = engine => join(modules, PACKAGES[engine], PROGRAMS[engine])
export const areInstalled = () => Object.keys(PACKAGES).every(engine => existsSync(programOf(engine)))

/** A home of its own with an empty project in it. */
export async function placeIn(folder) {
  const home = join(folder, 'home')
  const place = { home, agent: join(home, '.pi', 'agent'), project: join(home, 'project'), tmp: join(folder, 'tmp') }
  for (const path of [place.agent, place.project, place.tmp]) await mkdir(path, { recursive: true })
  return { ...place, sessions: join(place.agent, 'sessions') }
}

/** The folder below the sessions that belongs to a working directory. */
export const folderOf = cwd => `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`

/** Nothing of the caller's, and no way out but loopback. */
export const environment = ({ home, tmp }) => ({
  PATH: process.env.PATH, HOME: home, TMPDIR: tmp, LANG: 'C.UTF-8', TZ: 'UTC', NODE_COMPILE_CACHE: join(modules, '.compiled'),
  PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1', PI_TELEMETRY: '0',
  HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9', NO_PROXY: '127.0.0.1',
})

/** Start the program on a model of `api`; no second try, and no compaction but where one is asked for. */
export async function startClient(engine, place, api, args, { fileBlocks, stdin } = {}) {
  const model = { id: 'oracle-1', name: 'Oracle', contextWindow: 200_000, maxTokens: 4096 }
  const provider = { baseUrl: `${api.url}/v1`, api: 'openai-completions', apiKey: 'opens-nothing', models: [model] }
  const settings = { defaultProvider: 'oracle', defaultModel: model.id, retry: { enabled: false }, compaction: { enabled: false, keepRecentTokens: 1 } }
  await writeFile(join(place.agent, 'models.json'), JSON.stringify({ providers: { oracle: provider } }))
  await writeFile(join(place.agent, 'settings.json'), JSON.stringify(settings))
  const command = [process.execPath, programOf(engine), '--provider', 'oracle', '--model', model.id, ...args]
  const [program, ...rest] = fileBlocks === undefined ? command : ['sh', '-c', `ulimit -f ${fileBlocks}; exec "$@"`, 'sh', ...command]
  return start(program, rest, { env: environment(place), cwd: place.project, stdin })
}
