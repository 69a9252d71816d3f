// The published session store and its file backend, mounted without the rest of the client.
import { Context } from '@deepseek-ai/cordis'
import SessionStore from '@deepseek-ai/dsh-session'
import FileBackend from '@deepseek-ai/dsh-session-persistence-jsonl'

/** One host over one sessions root. A root holds one encoding: 'plain' or 'zstd'. */
export async function openHost(root, encoding) {
  const ctx = new Context()
  await ctx.plugin(SessionStore)
  const backend = await ctx.plugin(FileBackend, { root, packChunks: true, compression: encoding === 'zstd' ? 'zstd' : 'none' })
  return hostOver(ctx, backend)
}

/** The members of a host, whatever it keeps sessions in. */
export function hostOver(ctx, backend) {
  return {
    sessions: ctx.sessions,
    disk: ctx.sessionPersistence,
    save: session => ctx.sessions.flush(session),
    /** Bring a stored session to life the way a resuming client does. */
    async resume(id) {
      using ready = await ctx.sessionPersistence.prepare(id)
      ctx.sessions.enter(ready.session)
      ctx.sessions.announce(ready.session)
      await ctx.sessions.flush(ready.session)
      return ready.session
    },
    close: () => backend.dispose(),
  }
}

const DAWN = Date.UTC(2026, 7, 3, 6, 0, 0)
let ticks = 0
const tick = () => DAWN + 11 * ++ticks

/** Every time the libraries stamp comes from this clock; winding it back makes a run repeatable. */
export function windClock() {
  ticks = 0
  Date.now = tick
}
