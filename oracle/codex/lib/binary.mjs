// Runs the program under test on a home.
import { run } from './processes.mjs'

/** { status, err, sessions }: sessions are those of the report, none where there is no report. */
export async function sessfix(binary, args, { home, codex }, folder) {
  const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: codex, TMPDIR: folder, NO_COLOR: '1', LANG: 'C.UTF-8', TZ: 'UTC' }
  const [command, ...options] = args
  const { status, out, err } = await run(binary, [command, '--json', ...options, codex], { env, cwd: home })
  return { status, err: err.slice(0, 200), sessions: sessionsIn(out) }
}

function sessionsIn(out) {
  try {
    return JSON.parse(out).sessions ?? []
  } catch {
    return []
  }
}

export const isRefused = session => session.verdict === 'refuse' || session.refusal !== undefined

/** Does the report speak of this thread? Its sessions are named by an id, a path, or both. */
export const isAbout = (session, thread) => session.id === thread || String(session.path).includes(thread)
