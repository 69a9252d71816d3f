// Starts the real client on a session and leads it to a moment that can be seen: by a request, by what it prints, by a line
// of a transcript, or by a file that a command made. There it is killed with all it started.
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { answerTo } from './answer.mjs'
import { startApi } from './api.mjs'
import { PROGRAM, environment } from './client.mjs'
import { commandsIn } from './commands.mjs'
import { itemsOf } from './items.mjs'
import { plainRecords } from './records.mjs'
import { end, run } from './run.mjs'
import { idOf, nameOf } from './tail.mjs'

const TOOLS = 'Bash,Read,Agent'
const PATIENCE = 20

/** The moment did not come. That is no verdict on a repair. */
export class Missed extends Error {}

/** Where one session of the client lives. `askers` are filled as it runs: call -> 'main', or 'agent' when a sub-agent asked for it. */
export async function placeIn(folder, id) {
  const at = Object.fromEntries(['home', 'project', 'tmp'].map(name => [name, join(folder, name)]))
  for (const path of Object.values(at)) await mkdir(path, { recursive: true })
  const config = join(at.home, '.claude')
  const projects = join(config, 'projects', (await realpath(at.project)).replace(/[^a-zA-Z0-9]/g, '-'))
  return { ...at, id, config, askers: new Map(), file: join(projects, `${id}.jsonl`), agents: join(projects, id, 'subagents') }
}

/** The sub-agents' transcripts. */
export async function agentFiles(agents) {
  return (await readdir(agents).catch(() => [])).filter(name => name.endsWith('.jsonl')).sort().map(name => join(agents, name))
}

/** Calls that began, by what they left behind: a file of the command, or the header of a sub-agent. */
export async function ranIn(place) {
  const agents = await Promise.all((await readdir(place.agents).catch(() => [])).filter(name => name.endsWith('.meta.json'))
    .map(async name => JSON.parse(await readFile(join(place.agents, name), 'utf8')).toolUseId))
  return [...commandsIn(place.project).allThatBegan(), ...agents.map(nameOf)].sort()
}

/** Run the client until `act` returns. Then it is killed, unless `lives`: then it ends by itself. Gives the refused requests. */
export async function lead(place, { prompt, lives = false }, act) {
  const waiting = []
  const commands = commandsIn(place.project)
  const api = await startApi((body, response) => {
    if (!(body.tools?.length > 0)) return false
    const by = body.system?.some(block => block.text?.includes('cc_is_subagent=true')) ? 'agent' : 'main'
    waiting.push({ by, words: JSON.stringify(body.messages), body, response })
    return true
  })
  let child
  let printed = ''
  let over = false
  const args = ['-p', '--verbose', '--output-format', 'stream-json', '--include-partial-messages', '--tools', TOOLS, '--allowedTools', TOOLS]
  const session = existsSync(place.file) ? '--resume' : '--session-id'
  const ending = run(PROGRAM, [...args, '--system-prompt', 'oracle', session, place.id, prompt], {
    env: environment(place, place.config, api.url), cwd: place.project, seconds: 60,
    started(process) {
      child = process
      child.stdout.on('data', (chunk) => { printed += chunk })
      child.on('exit', () => { over = true })
    },
  })
  try {
    await act(sights())
    if (!lives) {
      if (over) throw new Missed('the client ended before it was killed')
      end(child.pid)
    }
    commands.letAllGo()
    const { status, err } = await ending
    if (lives && status !== 0) throw new Missed(`the client ends with ${status}: ${err.slice(0, 200)}`)
    return api.requests.filter(request => request.refusal !== null).map(({ refusal }) => refusal.message)
  } finally {
    if (!over) end(child.pid)
    commands.letAllGo()
    await ending
    api.close()
  }

  async function until(look, what) {
    const limit = Date.now() + PATIENCE * 1000
    for (;;) {
      const seen = await look()
      if (seen) return seen
      if (over) throw new Missed(`the client ended before this: ${what}`)
      if (Date.now() > limit) throw new Missed(`not seen within ${PATIENCE} seconds: ${what}`)
      await pause(40)
    }
  }

  async function items() {
    const files = [place.file, ...await agentFiles(place.agents)]
    const all = await Promise.all(files.map(file => readFile(file).catch(() => Buffer.alloc(0))))
    return all.flatMap(bytes => plainRecords(bytes).flatMap(record => itemsOf(record.message)))
  }

  function written(fits, what) {
    return until(async () => (await items()).some(fits), `${what}, written`)
  }

  function sights() {
    return {
      /** The next request nobody answered yet, of the session or of a sub-agent, with these words in it. */
      async asked(by = 'main', words = '') {
        const fits = request => request.by === by && request.words.includes(words)
        await until(() => waiting.some(fits), `a request of ${by} ${words}`)
        const [request] = waiting.splice(waiting.findIndex(fits), 1)
        return answerTo(request, commands, id => place.askers.set(id, by))
      },
      printed: words => until(() => printed.includes(words), `printed ${words}`),
      began: id => until(() => commands.began(id), `call ${id} began`),
      ended: id => until(() => commands.ended(id), `call ${id} ended`),
      letGo: commands.letGo,
      registered: () => until(async () => (await readdir(join(place.config, 'sessions')).catch(() => [])).length > 0, 'an entry of the registry'),
      opened: () => written(item => item.text === prompt && item.role === 'user', 'the prompt'),
      written: {
        call: id => written(item => item.call === idOf(id), `call ${id}`),
        result: id => written(item => item.result === idOf(id), `the result of ${id}`),
        text: words => written(item => item.text === words && 'role' in item, words),
        summary: () => until(async () => plainRecords(await readFile(place.file)).some(record => record.isCompactSummary), 'a summary, written'),
      },
    }
  }
}
