// What a test does with a std::expected whose error is a text: it fails, and says that.
#pragma once

#include <QtTest>

#define VERIFY_OUTCOME(outcome) QVERIFY2((outcome), (outcome) ? "" : qPrintable((outcome).error()))
