"""The mail filter: in wheels it says what is missing; built against the system it works."""
import subprocess

import pytest

import twinsift


def message(sender, subject, body):
    return f"From: {sender}\r\nSubject: {subject}\r\nMessage-ID: <{subject}@{sender}>\r\n\r\n{body}\r\n".encode()


SPAM = [message("deals@pills.example", f"win money {n}", f"Buy cheap pills now, offer {n}, win money fast") for n in range(30)]
HAM = [message("bob@work.example", f"meeting {n}", f"The meeting about the harbour, item {n}, is at ten") for n in range(30)]


@pytest.fixture
def learnt(tmp_path):
    try:
        mail = twinsift.MailFilter.create(tmp_path / "mail.twin")
    except twinsift.UnsupportedError as error:
        assert "libgmime" in str(error) and "not in this build" in str(error)
        pytest.skip("this build does not read mail")
    with mail:
        for spam, ham in zip(SPAM, HAM):
            assert mail.learn(spam, "spam") == mail.learn(ham, "ham") == "learnt"
    return tmp_path / "mail.twin"


def test_what_was_learnt_is_recognised(learnt):
    with twinsift.MailFilter(learnt) as mail:
        spam, ham = mail.check(SPAM[3]), mail.check(HAM[3])
        assert spam.label == "spam" and spam.score > 0.9 and ham.label == "ham" and ham.score < 0.1
        assert {one.label for one in spam.evidence} <= {"spam", "ham"} and spam.evidence[0].messages == 30
        words = mail.explain(SPAM[3], top=5)
        assert len(words) == 5 and words[0].weight > 0  # the key is random, and so are collisions
        with pytest.raises(ValueError, match="opened for reading"):
            mail.learn(SPAM[0], "spam")
    with pytest.raises(ValueError, match="closed"):
        mail.check(SPAM[0])


def test_learning_can_be_corrected_and_forgotten(learnt):
    with twinsift.MailFilter(learnt, "w") as mail:
        assert mail.learn(SPAM[0], "spam") == "known"
        assert mail.correct(SPAM[0], "ham") == "corrected" and mail.check(SPAM[0]).label == "ham"
        assert mail.forget(SPAM[1]) == "forgotten" and mail.forget(SPAM[1]) == "unknown"
        with pytest.raises(ValueError):
            mail.learn(SPAM[0], "not a label!")
        with pytest.raises(TypeError, match="a message must be str or bytes"):
            mail.check(None)


def test_what_is_not_committed_is_lost(learnt):
    mail = twinsift.MailFilter(learnt, "w")
    mail.learn(message("new@else.example", "new", "something new"), "ham")
    mail.close()
    with pytest.raises(RuntimeError), twinsift.MailFilter(learnt, "w") as mail:
        mail.learn(message("new@else.example", "new", "something new"), "ham")
        raise RuntimeError("the block fails")
    with twinsift.MailFilter(learnt) as mail:
        assert mail.check(HAM[0]).evidence[0].messages == 30


def test_the_program_says_the_same(learnt, program):
    done = subprocess.run([program, "mail", "check", "-m", learnt, "-"], input=SPAM[3], capture_output=True, check=False)
    verdict = twinsift.MailFilter(learnt).check(SPAM[3])
    label, score, reason = done.stdout.decode().split("\t")[:3]
    assert (label, reason.split()[0]) == (verdict.label, verdict.reason) and float(score) == pytest.approx(verdict.score, abs=1e-3)
