-- One message through the milter, for miltertest. Globals, given with -D: SOCKET, SENDER, HELLO, FILE (a message),
-- USER (who has logged in; "" for nobody). It prints the answer to the message and what was done to its headers.
conn = mt.connect("unix:" .. SOCKET)
if conn == nil then error("no milter at " .. SOCKET) end
mt.conninfo(conn, HELLO, "192.0.2.7")
mt.helo(conn, HELLO)
if USER ~= "" then
    mt.macro(conn, SMFIC_MAIL, "i", "QUEUE1", "{auth_authen}", USER)
else
    mt.macro(conn, SMFIC_MAIL, "i", "QUEUE1")
end
mt.mailfrom(conn, "<" .. SENDER .. ">")
body = {}
inside = false
for line in io.lines(FILE) do
    line = line:gsub("\r$", "")
    if inside then
        body[#body + 1] = line .. "\r\n"
    elseif line == "" then
        inside = true
    else
        name, value = line:match("^([^:]+): *(.*)$")
        mt.header(conn, name, value)
    end
end
mt.eoh(conn)
mt.bodystring(conn, table.concat(body))
mt.eom(conn)
answers = { [SMFIR_ACCEPT] = "accept", [SMFIR_CONTINUE] = "continue", [SMFIR_REPLYCODE] = "reply",
            [SMFIR_TEMPFAIL] = "tempfail", [SMFIR_REJECT] = "reject" }
print(answers[mt.getreply(conn)])
if mt.eom_check(conn, MT_QUARANTINE) then print("quarantine") end
for _, name in ipairs({ "X-Spam-Flag", "X-Spam-Score", "X-Twinsift" }) do
    if mt.eom_check(conn, MT_HDRDELETE, name) then print("deleted " .. name) end
    value = mt.eom_check(conn, MT_HDRINSERT, name) and mt.getheader(conn, name, 0)
    if value then print(name .. ":" .. value) end
end
mt.disconnect(conn)
