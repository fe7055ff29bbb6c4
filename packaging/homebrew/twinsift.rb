# The formula for Homebrew. packaging/release.sh fills in what is between @ signs.
class Twinsift < Formula
  desc "Find near-duplicate documents and overlapping sets, each pair verified"
  homepage "@URL@"
  url "@URL@"
  sha256 "@SHA256@"
  license "Apache-2.0"

  depends_on "cmake" => :build
  depends_on "lowdown" => :build
  depends_on "ninja" => :build
  depends_on "pkgconf" => :build
  depends_on "gmime"
  depends_on "libmicrohttpd"
  depends_on "libpsl"
  depends_on :linux
  depends_on "lmdb"
  depends_on "utf8proc"
  depends_on "xxhash"
  depends_on "zlib"
  depends_on "zstd"

  def install
    system "cmake", "-S", ".", "-B", "build/brew", "-G", "Ninja", "-DTWIN_FARMHASH=OFF", "-DTWIN_LAB=OFF",
           "-DTWIN_TESTS=OFF", "-DTWIN_BENCH=OFF", *std_cmake_args
    system "cmake", "--build", "build/brew"
    system "cmake", "--install", "build/brew"
  end

  test do
    (testpath/"two.jsonl").write <<~EOS
      {"id":1,"text":"one text"}
      {"id":2,"text":"One  text"}
    EOS
    assert_equal "1\t2\t1.0000\n", shell_output("#{bin}/twinsift pairs two.jsonl")
  end
end
