// What the client would send next: the system prompt and the messages, as the real library has them once the session is
// resumed. Versions 2 and 3 have no session library; there the published decoder reads the log, and each message is the one
// that the library of version 0 makes of its event.
import { copyFile, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { deriveEventMessage, foldRequestHeader, foldSurface } from '@deepseek-ai/dsh-session'
import { openHost, windClock } from './client.mjs'
import { readLog } from './later.mjs'
import { encodingOf, logPath } from './place.mjs'
import { textOf } from './records.mjs'
import { firstLine } from './trial.mjs'

/** The versions that somebody can be asked about. */
export const ASKED = [0, 2, 3]

/** `{ system, messages }`; system is undefined where there is none. */
export async function nextRequest(file) {
  const header = await firstLine(file)
  return header.version === 0 ? resumed(file, header) : decoded(file)
}

async function resumed(file, header) {
  const root = await mkdtemp(join(tmpdir(), 'sessfix-next-'))
  const encoding = encodingOf(file)
  const copy = logPath(root, { cwd: header.cwd, id: header.id, encoding })
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
  await copyFile(file, copy)
  windClock()
  const host = await openHost(root, encoding)
  try {
    const session = await host.resume(header.id)
    return { system: foldRequestHeader(session.events)?.system, messages: session.deriveMessages() }
  } finally {
    await host.close()
    await rm(root, { recursive: true, force: true })
  }
}

async function decoded(file) {
  const text = Buffer.from(textOf(await readFile(file), encodingOf(file)).text, 'latin1').toString('utf8')
  const { header, events } = readLog(text, 'strict')
  const shown = header.version < 3 ? foldSurface(events).nodes.map(seq => events[seq]) : surfaceOf(events)
  const messages = shown.map(deriveEventMessage).filter(message => message !== null)
  const head = shown.find(event => event.type === 'system/message')
  const system = header.version < 3 ? foldRequestHeader(events)?.system : head?.data.message.content.map(block => block.text).join('\n\n')
  return { system: system || undefined, messages }
}

/** The library folds the marks of version 2; these are those of version 3. */
function surfaceOf(events) {
  const shown = []
  for (const event of events) {
    const op = event.surfaceOp
    if (op === 'append') shown.push(event)
    else if (op?.op === 'replace') {
      const from = shown.findIndex(item => item.seq === op.startSeq)
      const to = shown.findIndex(item => item.seq === op.endSeq)
      shown.splice(from, to - from + 1, event)
    }
  }
  return shown
}
