// node opener.mjs: a child that lets the real library open sessions, one path a line of its input, and says what it makes of each. It works on
// copies, since opening may write.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { context, harnessOn, repoIn, say } from './agent.mjs'

async function open(file) {
  const folder = mkdtempSync(join(tmpdir(), 'opened-'))
  const heard = { listed: false, ran: [], requests: [] }
  try {
    const copy = join(folder, '--home-user-harbour--', 'copy.jsonl')
    mkdirSync(join(folder, '--home-user-harbour--'))
    copyFileSync(file, copy)
    const repo = repoIn(folder)
    const [found] = await repo.list(undefined, context)
    if (found === undefined) return heard
    heard.listed = true
    const session = await repo.open(found, context)
    heard.rewrote = !readFileSync(copy).equals(readFileSync(file))
    heard.entries = (await session.findEntries({ order: 'asc' }, context)).map(({ id, parentId, type, message }) => JSON.stringify([id, parentId, type, message]))
    await goOn(session, heard)
  } catch (error) {
    heard.error = wordsOf(error)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  return heard
}

/** Each lane is resumed, which must do nothing, and then asked something. */
async function goOn(session, heard) {
  const ran = id => heard.ran.push(id)
  const tools = Object.fromEntries(['slow', 'quick', 'breaks', 'again', 'second', 'bash'].map(name => [name, [id => ran(id) && { content: [{ type: 'text', text: 'ran' }], details: {} }, { replay: 'safe' }]]))
  const { harness, open, faux } = await harnessOn(session, tools)
  let whole
  const answer = ({ messages }) => {
    whole = messages
    return heard.requests.push(messages.map(brief)) && say('Fine.')
  }
  heard.open = open.map(({ lane, kind }) => `${lane}: ${kind}`)
  heard.lanes = {}
  for (const { name } of await harness.lanes(context)) {
    const lane = await harness.lane(name, context)
    faux.setResponses(Array(4).fill(answer))
    const resume = await lane.resume(context)
    const seen = { resume: resume.ok ? resume.value.status ?? 'ok' : resume.error._tag, askedByResume: heard.requests.length, ranByResume: heard.ran.length }
    heard.requests = []
    const prompt = await lane.prompt('What is next?', undefined, context)
    heard.lanes[name] = { ...seen, prompt: prompt.ok ? [prompt.value.status, prompt.value.error?.message].filter(Boolean).join(': ') : prompt.error._tag, sent: heard.requests, whole }
    heard.requests = []
  }
  await harness.close(context)
}

const brief = ({ role, toolCallId, stopReason, content }) => ({
  role, id: toolCallId, stopReason,
  calls: Array.isArray(content) ? content.filter(({ type }) => type === 'toolCall').map(({ id }) => id) : [],
  text: Array.isArray(content) ? content.map(block => block.text ?? '').join(' ') : String(content),
})

const wordsOf = error => error === undefined ? '' : `${error.message}${error.cause ? ` <- ${wordsOf(error.cause)}` : ''}`

for await (const file of createInterface({ input: process.stdin })) process.stdout.write(`${encodeURIComponent(JSON.stringify(await open(file)))}\n`)
process.exit(0)
